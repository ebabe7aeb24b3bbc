package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal.AtMost;
import blackbox.bench.subject.Auditd;
import blackbox.bench.subject.Folders;
import blackbox.bench.subject.VmData;
import blackbox.node.image.LocalImages;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.ScratchFolder;
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
import blackbox.vm.machine.Tier;
import blackbox.vm.machine.VmRequest;
import blackbox.vm.workspace.WorkspaceSource;
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

/// How much slower a workload of file accesses and executions runs in the guest with the tracer; and, instead
/// of it, under auditd with rules for the same but reads and writes, or under `strace -f`; than with neither.
/// All run in VMs of the same image, in the exact tier: there the guest's clock counts instructions, so what
/// else the host does is not measured. What is compared is how long the guest's processor was busy; each
/// figure is the best of several rounds.
final class GuestSlowdown implements VmBenchmark {
    private static final int ROUNDS = Scale.CURRENT.rounds(2);
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final String[] PLAIN = {"python3", "/workspace/slowdown.py"};
    private static final String[] STRACED = {
        "strace", "-f", "-qq", "-o", "/workspace/log", "python3", "/workspace/slowdown.py"
    };

    /// Processor time for the files and for the executions, seconds.
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
        Path data = VmData.shared().withImageOnly().folder();
        try {
            // First: the copy has the tracer, and opening it with other guest files takes that out.
            var images = new LocalImages(new DataFolder(data), GuestSlowdown::say);
            Times traced = times(data, images.open(LocalImages.DEFAULT), PLAIN);
            var store = new ImageStore(data);
            GuestImage untraced = store.open(LocalImages.DEFAULT, GuestFiles.with(Map.of()), GuestSlowdown::say);
            Times bare = times(data, untraced, PLAIN);
            Times strace = times(data, untraced, STRACED);
            Times audited = times(
                    data,
                    store.open(LocalImages.DEFAULT, GuestFiles.with(Auditd.guestFiles()), GuestSlowdown::say),
                    PLAIN);
            return List.of(
                    ratio(name(), traced.total(), audited.total(), bare.total()),
                    ratio("guest-slowdown-files", traced.files(), audited.files(), bare.files()),
                    ratio("guest-slowdown-execs", traced.execs(), audited.execs(), bare.execs()),
                    BenchResult.of(
                                    "guest-slowdown-share",
                                    (traced.total() - bare.total()) / (audited.total() - bare.total()),
                                    "of what auditd adds")
                            .withGoal(new AtMost(0.5))
                            .alone("it is the ratio to auditd")
                            .withNote("strace -f makes it %.2f ×".formatted(strace.total() / bare.total())));
        } finally {
            Folders.delete(data);
        }
    }

    private static BenchResult ratio(String name, double traced, double audited, double bare) {
        return BenchResult.of(name, traced / bare, "×")
                .beside("auditd", audited / bare)
                .withNote("with neither %.3f s, counted in instructions".formatted(bare));
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
                try (var captures = ScratchFolder.in(data, "captures-")) {
                    best = best.best(times(host, request(image, workspace, captures.path()), argv));
                }
            }
            return best;
        } finally {
            Files.deleteIfExists(workspace.resolve("slowdown.py"));
            Files.deleteIfExists(workspace);
        }
    }

    private static VmRequest request(GuestImage image, Path workspace, Path captures) {
        return new VmRequest(
                image,
                MachineSize.DEFAULT,
                Network.NONE,
                new WorkspaceSource.Given(workspace),
                VmRequest.Start.WARM,
                captures,
                Tier.EXACT);
    }

    private static Times times(QemuHost host, VmRequest request, String... argv) throws VmException, IOException {
        try (QemuMachine machine = host.start(request, event -> {})) {
            return times(machine, argv);
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
