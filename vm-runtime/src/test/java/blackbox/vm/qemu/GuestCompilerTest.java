package blackbox.vm.qemu;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import blackbox.files.ProcessLock;
import blackbox.vm.Json;
import blackbox.vm.image.FakeImage;
import blackbox.vm.image.GuestFiles;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.PackageArchive;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GuestCompilerTest {
    private static final String PROGRAM = "tracer/compile.py";

    @TempDir
    Path folder;

    @Test
    void whoComesWhileAnotherCompilesTakesWhatComesOfIt() throws Exception {
        GuestImage image = FakeImage.in(Files.createDirectory(folder.resolve("image")));
        Path data = folder.resolve("data");
        GuestFiles files = GuestFiles.with(Map.of(PROGRAM, "print()".getBytes(StandardCharsets.UTF_8)));
        var said = new LinkedBlockingQueue<String>();
        var compiler = new GuestCompiler(data, PROGRAM, "tracer/compiled", said::add);
        Path note = compiler.note(image, files.around(PROGRAM));
        byte[] made = "what was made".getBytes(StandardCharsets.UTF_8);
        CompletableFuture<byte[]> derived;
        try (ProcessLock _ = ProcessLock.take(GuestCompiler.lock(note, image))) {
            derived = CompletableFuture.supplyAsync(() -> {
                try {
                    return compiler.derive(image, files);
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            assertEquals(
                    "waiting for another process, which is compiling the same tracer", said.poll(60, TimeUnit.SECONDS));
            Json.write(note, new CompiledBefore(List.of()).with(new PackageArchive(data).take(made), image));
        }
        assertArrayEquals(made, derived.get(60, TimeUnit.SECONDS));
        assertArrayEquals(made, compiler.derive(image, files), "and later without waiting");
        assertEquals(0, said.size());
    }
}
