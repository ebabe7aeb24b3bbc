package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.subject.VmData;
import blackbox.node.image.LocalImages;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.VmException;
import blackbox.vm.host.QemuHost;
import blackbox.vm.host.QemuMachine;
import blackbox.vm.image.GuestFiles;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.ImageStore;
import blackbox.vm.machine.AgentCommand;
import blackbox.vm.machine.AgentCommand.AgentUser;
import blackbox.vm.machine.MachineSize;
import blackbox.vm.machine.Network;
import blackbox.vm.machine.VmRequest;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// How much slower a workload of file accesses and executions runs in the guest with the tracer, and under
/// `strace -f` instead, than with neither. All three run in a VM of the same image; each figure is the best of
/// several rounds in one VM.
final class GuestSlowdown implements VmBenchmark {
    private static final int ROUNDS = Scale.CURRENT.rounds(3);
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final String[] PLAIN = {"python3", "/workspace/slowdown.py"};
    private static final String[] STRACED = {
        "strace", "-f", "-qq", "-o", "/workspace/log", "python3", "/workspace/slowdown.py"
    };

    /// Seconds for the files and for the executions.
    private record Times(double files, double execs) {
        Times best(Times other) {
            return new Times(Math.min(files, other.files), Math.min(execs, other.execs));
        }

        double total() {
            return files + execs;
        }
    }

    @Override
    public String name() {
        return "guest-slowdown";
    }

    @Override
    public List<BenchResult> run() throws Exception {
        Path data = VmData.shared().folder();
        GuestImage untraced =
                new ImageStore(data).open(LocalImages.DEFAULT, GuestFiles.with(Map.of()), GuestSlowdown::say);
        Times bare = times(data, untraced, PLAIN);
        Times strace = times(data, untraced, STRACED);
        var images = new LocalImages(new DataFolder(data), GuestSlowdown::say);
        Times traced = times(data, images.open(LocalImages.DEFAULT), PLAIN);
        return List.of(
                BenchResult.of(name(), traced.total() / bare.total(), "×")
                        .beside("strace -f", strace.total() / bare.total())
                        .withNote("with neither %.3f s".formatted(bare.total())),
                ratio("guest-slowdown-files", traced.files(), strace.files(), bare.files()),
                ratio("guest-slowdown-execs", traced.execs(), strace.execs(), bare.execs()));
    }

    private static BenchResult ratio(String name, double traced, double strace, double bare) {
        return BenchResult.of(name, traced / bare, "×")
                .beside("strace -f", strace / bare)
                .withNote("with neither %.3f s".formatted(bare));
    }

    private static Times times(Path data, GuestImage image, String... argv) throws Exception {
        Path workspace = Files.createTempDirectory("blackbox-bench");
        try (InputStream script = GuestSlowdown.class.getResourceAsStream("slowdown.py")) {
            if (script == null) {
                throw new IOException("the workload slowdown.py is missing from this build");
            }
            Files.copy(script, workspace.resolve("slowdown.py"));
            var host = QemuHost.open(data, InstantSource.system(), new SecureRandom(), GuestSlowdown::say);
            Times best = new Times(Double.MAX_VALUE, Double.MAX_VALUE);
            for (int round = 0; round < ROUNDS; round++) {
                var request = new VmRequest(image, MachineSize.DEFAULT, Network.NONE, workspace, VmRequest.Start.WARM);
                try (QemuMachine machine = host.start(request, event -> {})) {
                    best = best.best(times(machine, argv));
                }
            }
            return best;
        } finally {
            Files.deleteIfExists(workspace.resolve("slowdown.py"));
            Files.deleteIfExists(workspace);
        }
    }

    private static Times times(QemuMachine machine, String... argv) throws VmException, IOException {
        for (InputStream stream : List.of(machine.events(), machine.framesOut(), machine.framesIn())) {
            Thread.ofPlatform().daemon().start(() -> drop(stream));
        }
        var printed = new ByteArrayOutputStream();
        List<byte[]> command = Stream.of(argv)
                .map(argument -> argument.getBytes(StandardCharsets.UTF_8))
                .toList();
        machine.startAgent(
                new AgentCommand(command, List.of(), null, AgentUser.AGENT),
                new ByteArrayInputStream(new byte[0]),
                printed,
                printed);
        machine.awaitExit(PATIENCE);
        List<String> lines = printed.toString(StandardCharsets.UTF_8).lines().toList();
        if (lines.size() != 2) {
            throw new IOException("the workload printed " + lines);
        }
        return new Times(Double.parseDouble(lines.get(0)), Double.parseDouble(lines.get(1)));
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
