package blackbox.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.channels.FileLockInterruptionException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class ProcessLockTest {

    @TempDir
    Path folder;

    @Test
    void thereIsOneHolderAndAskingLetsGoOfNothing() throws IOException {
        Path file = folder.resolve("lock");
        assertFalse(ProcessLock.isHeld(file));
        assertFalse(Files.exists(file), "asking makes no file");
        try (ProcessLock lock = ProcessLock.tryTake(file)) {
            assertNotNull(lock);
            assertNull(ProcessLock.tryTake(file));
            assertTrue(ProcessLock.isHeld(file));
            assertTrue(kernelHasIt(file));
        }
        assertFalse(ProcessLock.isHeld(file));
        assertFalse(kernelHasIt(file));
    }

    @Test
    void aSharedLockHasManyHoldersAndNoExclusiveOne() throws IOException {
        Path file = folder.resolve("lock");
        try (ProcessLock one = ProcessLock.tryTakeShared(file)) {
            try (ProcessLock two = ProcessLock.tryTakeShared(file)) {
                assertNotNull(one);
                assertNotNull(two);
                assertNull(ProcessLock.tryTake(file));
            }
            assertNull(ProcessLock.tryTake(file), "one is left");
            assertTrue(ProcessLock.isHeld(file));
        }
        try (ProcessLock alone = ProcessLock.tryTake(file)) {
            assertNotNull(alone);
            assertNull(ProcessLock.tryTakeShared(file));
        }
        try (ProcessLock again = ProcessLock.tryTakeShared(file)) {
            assertNotNull(again);
        }
    }

    @Test
    void thelockGoesWithTheFileWhateverItIsCalled() throws IOException {
        Path old = Files.createDirectory(folder.resolve("old"));
        Path renamed = folder.resolve("renamed");
        Path linked = folder.resolve("linked");
        try (ProcessLock lock = ProcessLock.tryTake(old.resolve("lock"))) {
            assertNotNull(lock);
            Files.move(old, renamed);
            Files.createSymbolicLink(linked, renamed);
            assertNull(ProcessLock.tryTake(renamed.resolve("lock")));
            assertNull(ProcessLock.tryTake(linked.resolve("lock")));
            assertTrue(kernelHasIt(renamed.resolve("lock")));
            Files.createDirectory(old);
            try (ProcessLock another = ProcessLock.tryTake(old.resolve("lock"))) {
                assertNotNull(another, "another file of the old name");
            }
        }
        assertFalse(ProcessLock.isHeld(renamed.resolve("lock")));
    }

    @Test
    void closingTwiceTakesNothingFromTheNextHolder() throws IOException {
        Path file = folder.resolve("lock");
        ProcessLock first = ProcessLock.take(file);
        first.close();
        try (ProcessLock second = ProcessLock.tryTake(file)) {
            assertNotNull(second);
            first.close();
            assertNull(ProcessLock.tryTake(file));
        }
    }

    @Test
    void athreadWaitsForAnother() throws Exception {
        Path file = folder.resolve("lock");
        var waiting = new CountDownLatch(1);
        var told = new AtomicInteger();
        var waiter = new FutureTask<>(() -> ProcessLock.take(file, () -> {
            told.incrementAndGet();
            waiting.countDown();
        }));
        try (ProcessLock lock = ProcessLock.take(file, told::incrementAndGet)) {
            assertTrue(lock.channel().isOpen());
            Thread.startVirtualThread(waiter);
            waiting.await();
            assertFalse(waiter.isDone());
        }
        try (ProcessLock second = waiter.get()) {
            assertTrue(second.channel().isOpen());
            assertNull(ProcessLock.tryTake(file));
        }
        assertEquals(1, told.get(), "only who waits is told so");
    }

    @Test
    void askingDisturbsNobody() throws Exception {
        Path file = folder.resolve("lock");
        assertFalse(ProcessLock.isHeld(file));
        assertFalse(Files.exists(file));
        Process other = process(Asker.class, file);
        var asking = new AtomicBoolean(true);
        Thread here = Thread.ofPlatform().start(() -> {
            while (asking.get()) {
                ProcessLock.isHeld(file);
            }
        });
        try (var said = said(other)) {
            assertEquals("asking", said.readLine());
            for (int i = 0; i < 2_000; i++) {
                try (ProcessLock lock = ProcessLock.tryTake(file)) {
                    assertNotNull(lock, "who only asks holds nothing");
                    assertTrue(kernelHasIt(file));
                }
            }
        } finally {
            other.destroyForcibly();
            asking.set(false);
            here.join();
        }
    }

    @Test
    void anInterruptEndsTheWaitAndLeavesTheLockToOthers() throws Exception {
        Path file = folder.resolve("lock");
        var waiting = new CountDownLatch(1);
        var outcome = new FutureTask<Throwable>(() -> {
            try (ProcessLock _ = ProcessLock.take(file, waiting::countDown)) {
                return new AssertionError("it was taken");
            } catch (IOException e) {
                return Thread.currentThread().isInterrupted() ? e : new AssertionError("the interrupt was lost");
            }
        });
        try (ProcessLock _ = ProcessLock.take(file)) {
            Thread thread = Thread.ofPlatform().start(outcome);
            waiting.await();
            thread.interrupt();
            assertInstanceOf(FileLockInterruptionException.class, outcome.get());
        }
        assertFalse(ProcessLock.isHeld(file));
    }

    @Test
    void anotherProcessIsWaitedForUntilItIsKilled() throws Exception {
        Path file = folder.resolve("lock");
        Process child = process(Holder.class, file);
        try (var said = said(child)) {
            assertEquals("held", said.readLine());
            assertNull(ProcessLock.tryTake(file));
            assertTrue(ProcessLock.isHeld(file));
            try (ProcessLock lock = ProcessLock.take(file, child::destroyForcibly)) {
                assertTrue(lock.channel().isOpen());
                assertNotEquals(0, child.waitFor());
            }
        } finally {
            child.destroyForcibly();
        }
    }

    private static Process process(Class<?> main, Path file) throws IOException {
        return new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        main.getName(),
                        file.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static BufferedReader said(Process process) {
        return new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /// Asks whether a lock is held until it is killed.
    static final class Asker {
        private Asker() {}

        public static void main(String[] arguments) {
            System.out.println("asking");
            System.out.flush();
            while (true) {
                ProcessLock.isHeld(Path.of(arguments[0]));
            }
        }
    }

    /// Takes a lock and keeps it until it is killed.
    static final class Holder {
        private Holder() {}

        public static void main(String[] arguments) throws Exception {
            try (ProcessLock lock = ProcessLock.tryTake(Path.of(arguments[0]))) {
                System.out.println(lock == null ? "not held" : "held");
                System.out.flush();
                new CountDownLatch(1).await();
            }
        }
    }

    private static boolean kernelHasIt(Path file) throws IOException {
        String inode = ":" + Files.getAttribute(file, "unix:ino") + " ";
        return Files.readAllLines(Path.of("/proc/locks")).stream().anyMatch(line -> line.contains(inode));
    }
}
