package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.subject.VmData;
import blackbox.node.image.LocalImages;
import blackbox.recorder.RecorderException;
import blackbox.recorder.capture.CaptureFile;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.host.QemuHost;
import blackbox.vm.host.QemuMachine;
import blackbox.vm.image.GuestImage;
import blackbox.vm.machine.AgentCommand;
import blackbox.vm.machine.AgentCommand.AgentUser;
import blackbox.vm.machine.MachineSize;
import blackbox.vm.machine.Network;
import blackbox.vm.machine.Tier;
import blackbox.vm.machine.VmRequest;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// How fast the log of the VM's disk grows while a guest does little but write, and how much slower the guest is
/// with the log, sealed as in a recording, than without. The two alternate in VMs from the same snapshot; each
/// figure is the best of several rounds.
final class BlockLog implements VmBenchmark {
    private static final int ROUNDS = Scale.CURRENT.rounds(3);
    private static final long SEAL_EVERY_MS = 500;
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final double MIB = 1 << 20;

    @Override
    public String name() {
        return "block-log";
    }

    /// One run of the workload.
    ///
    /// @param written by the workload, octets
    /// @param logged octets, 0 without a log
    private record Turn(double seconds, double written, double logged) {
        Turn best(@Nullable Turn other) {
            return other == null || seconds < other.seconds ? this : other;
        }
    }

    @Override
    public List<BenchResult> run() throws Exception {
        Path data = VmData.shared().folder();
        GuestImage image = new LocalImages(new DataFolder(data), what -> say(what)).open(LocalImages.DEFAULT);
        var host = QemuHost.open(data, InstantSource.system(), new SecureRandom(), what -> say(what));
        Turn bare = null;
        Turn logged = null;
        for (int round = 0; round < ROUNDS; round++) {
            bare = turn(host, image, null).best(bare);
            try (var captures = ScratchFolder.in(data, "scratch-")) {
                logged = turn(host, image, captures.path()).best(logged);
            }
        }
        if (bare == null || logged == null) {
            throw new IllegalStateException("no rounds");
        }
        double rate = logged.logged() / MIB / logged.seconds();
        return List.of(
                BenchResult.of(name(), rate, "MiB/s of run")
                        .beside("written by the guest", logged.written() / MIB / logged.seconds())
                        .withNote("%.0f MiB logged".formatted(logged.logged() / MIB)),
                BenchResult.of("block-log-slowdown", logged.seconds() / bare.seconds(), "×")
                        .alone("it is the ratio to the same work without a log; the limit is 1")
                        .withNote("without a log %.2f s".formatted(bare.seconds())));
    }

    private static Turn turn(QemuHost host, GuestImage image, @Nullable Path captures) throws Exception {
        var request = new VmRequest(
                image, MachineSize.DEFAULT, Network.NONE, null, VmRequest.Start.WARM, captures, Tier.LIVE);
        try (QemuMachine machine = host.start(request, event -> {})) {
            for (InputStream stream : List.of(machine.events(), machine.framesOut(), machine.framesIn())) {
                Thread.ofPlatform().daemon().start(() -> drop(stream));
            }
            var done = new CountDownLatch(1);
            var sealing = new FutureTask<>(() -> captures == null ? 0L : seal(machine, captures, done));
            Thread.ofPlatform().daemon().start(sealing);
            String[] printed = printed(machine).split(" ", 2);
            done.countDown();
            return new Turn(Double.parseDouble(printed[0]), Double.parseDouble(printed[1]), await(sealing));
        }
    }

    private static long await(FutureTask<Long> sealing) throws IOException, InterruptedException {
        try {
            return sealing.get();
        } catch (ExecutionException e) {
            throw new IOException("the log could not be sealed", e);
        }
    }

    /// Seals as a recording does; handling the events costs next to nothing.
    private static long seal(QemuMachine machine, Path captures, CountDownLatch done)
            throws RecorderException, InterruptedException {
        var file = new CaptureFile(
                CaptureName.BLOCKS.text(), CaptureName.BLOCKS.in(captures), Long.MAX_VALUE, machine::settleDisks);
        do {
            file.sealNew(System::nanoTime);
        } while (!done.await(SEAL_EVERY_MS, TimeUnit.MILLISECONDS));
        file.sealNew(System::nanoTime);
        return file.sealedBytes();
    }

    private static String printed(QemuMachine machine) throws VmException, IOException {
        String script;
        try (InputStream in = BlockLog.class.getResourceAsStream("writes.py")) {
            if (in == null) {
                throw new IOException("the workload writes.py is missing from this build");
            }
            script = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        var printed = new ByteArrayOutputStream();
        List<byte[]> command = List.of(octets("python3"), octets("-c"), octets(script));
        machine.startAgent(
                new AgentCommand(command, List.of(), null, AgentUser.AGENT),
                new ByteArrayInputStream(new byte[0]),
                printed,
                printed);
        machine.awaitExit(PATIENCE);
        return printed.toString(StandardCharsets.UTF_8).strip();
    }

    private static byte[] octets(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void drop(InputStream stream) {
        try {
            stream.transferTo(OutputStream.nullOutputStream());
        } catch (IOException expected) {
            Thread.currentThread().interrupt(); // the machine was closed meanwhile: the thread is done
        }
    }

    private static void say(String what) {
        System.err.println("bench: " + what);
    }
}
