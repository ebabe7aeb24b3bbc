package blackbox.cli;

import blackbox.cli.data.DataFolder;
import blackbox.cli.demo.DemoService;
import blackbox.cli.demo.DemoWorkspace;
import blackbox.cli.record.CaptureLimits;
import blackbox.cli.record.KafkaSettings;
import blackbox.cli.record.RecordRequest;
import blackbox.cli.record.RecordResult;
import blackbox.cli.record.RecordSession;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.image.GuestImageBuilder.LockPolicy;
import blackbox.vm.image.ImageStore;
import blackbox.vm.machine.Network;
import blackbox.vm.machine.Tier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// `blackbox demo`: the main job from end to end, on real parts. Exit 0 only when the agent did its work
/// and the run verifies.
@Command(
        name = "demo",
        description = "A scripted agent works in a VM; then see what it touched, with proof.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox demo                      the first time it also builds the guest image (minutes)",
            "  blackbox demo --data /tmp/demo     leave your own recordings alone",
            "",
            "The agent clones a repository, edits, builds, installs and reports to a service on this machine's loopback.",
            "Replaying the run comes with the replay engine and is not part of the demo yet."
        })
public final class DemoCommand implements Callable<Integer> {

    private static final Duration TIMEOUT = Duration.ofMinutes(10);

    @Mixin
    CommonOptions common = new CommonOptions();

    @Override
    public Integer call() throws Exception {
        DataFolder data = common.dataFolder();
        prepareImage(data);
        Path workspace = Files.createTempDirectory("blackbox-demo-");
        try (var service = new DemoService()) {
            DemoWorkspace.write(workspace);
            step("record: a scripted agent in a VM");
            RecordResult result = record(data, workspace, service);
            if (result.exitCode() != 0 || service.receivedBytes() == 0) {
                throw CommandException.failed(
                        "the demo's agent ended with " + result.exitCode() + ", and its service received "
                                + service.receivedBytes() + " bytes",
                        null);
            }
            return show(data, result);
        } finally {
            delete(workspace);
        }
    }

    private void prepareImage(DataFolder data) throws VmException {
        try {
            new ImageStore(data.root()).find(ImageCommand.DEFAULT);
        } catch (VmException e) {
            if (e.code() != Code.IMAGE_UNKNOWN) {
                throw e;
            }
            step("image: none yet; building the guest image from Debian packages, which takes some minutes");
            ImageCommand.build(data, ImageCommand.DEFAULT, LockPolicy.PREFER, null);
        }
    }

    private static RecordResult record(DataFolder data, Path workspace, DemoService service) throws Exception {
        List<String> command = DemoWorkspace.command(service.urlInGuest());
        var request = new RecordRequest(
                ImageCommand.DEFAULT,
                "demo",
                workspace,
                Map.of(),
                TIMEOUT,
                Network.USER,
                "agent",
                CaptureLimits.DEFAULT,
                Tier.LIVE,
                command);
        return new RecordSession(data, request, KafkaSettings.EMBEDDED, line -> System.err.println("blackbox: " + line))
                .run();
    }

    private int show(DataFolder data, RecordResult result) {
        String run = result.run().value();
        step("touched: what the run read, wrote, executed and called");
        int touched = command(data, "touched", run);
        step("verify: signatures, tree and completeness, from Parquet and public keys alone");
        int verified = command(data, "verify", run);
        step("replay: the same again from the same start, answered from the recording alone, and compared");
        int replayed = command(data, "replay", run);
        Path back = result.workspace();
        step("done: run " + run + ", " + result.events() + " events, " + result.lost() + " lost"
                + (back == null ? "" : "; its workspace came back to " + back));
        return Math.max(Math.max(touched, verified), replayed);
    }

    private int command(DataFolder data, String name, String run) {
        var arguments = new ArrayList<>(List.of(name, run, "--data", data.root().toString()));
        if (common.json()) {
            arguments.add("--json");
        }
        return Main.run(arguments.toArray(String[]::new));
    }

    private static void step(String what) {
        System.err.println("blackbox: == " + what);
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path each : all.sorted((a, b) -> b.compareTo(a)).toList()) {
                Files.delete(each);
            }
        }
    }
}
