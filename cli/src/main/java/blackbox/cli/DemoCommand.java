package blackbox.cli;

import blackbox.cli.demo.DemoReport;
import blackbox.cli.demo.DemoService;
import blackbox.cli.demo.DemoWorkspace;
import blackbox.cli.exit.CommandException;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.ConfinementOption;
import blackbox.cli.output.JsonOut;
import blackbox.cli.terminal.Narrator;
import blackbox.evidence.verify.RunVerifier;
import blackbox.evidence.verify.Verification;
import blackbox.node.alert.AlertOptions;
import blackbox.node.data.LocalTrust;
import blackbox.node.image.LocalImages;
import blackbox.node.record.KafkaSettings;
import blackbox.node.record.RecordListener;
import blackbox.node.record.RecordRequest;
import blackbox.node.record.RecordResult;
import blackbox.node.record.RecordSession;
import blackbox.node.record.StandardStreams;
import blackbox.node.verdict.ReplaySession;
import blackbox.node.verdict.Tiers;
import blackbox.query.brief.TouchedInBrief;
import blackbox.recorder.capture.CaptureLimits;
import blackbox.replay.ReplayException;
import blackbox.replay.rerun.OnMiss;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.GuestImageBuilder.LockPolicy;
import blackbox.vm.machine.AgentLimits;
import blackbox.vm.machine.MachineSize;
import blackbox.vm.machine.Network;
import blackbox.vm.machine.TierOption;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `blackbox demo`: the main workflow from end to end, with nothing simulated. Exit 0 only when the agent did
/// its work, the run verifies and a replay confirms it.
@Command(
        name = "demo",
        description = "Record a scripted agent in a VM; then show what it touched, verify the run and replay it.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox demo                      the first time it also builds the guest image (minutes)",
            "  blackbox demo --data /tmp/demo     keep the demo apart from your own recordings",
            "  blackbox demo --tier live          record as on a machine with KVM",
            "",
            "The agent clones a repository, edits, builds, installs and reports to a service on this machine's loopback.",
            "The run is then verified and replayed once. Exit 0: everything holds. 1: the run does not verify, or the",
            "replay differs. 3: something failed. `blackbox touched last --all` lists everything that the agent did."
        })
public final class DemoCommand implements Callable<Integer> {

    private static final Duration TIMEOUT = Duration.ofMinutes(10);

    @Mixin
    CommonOptions common = new CommonOptions();

    @Mixin
    ConfinementOption confinement = new ConfinementOption();

    @Option(
            names = "--tier",
            paramLabel = "TIER",
            defaultValue = "auto",
            description = "auto, live or exact, as for `record` (default: ${DEFAULT-VALUE}).")
    String tier = "auto";

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        TierOption option = RecordCommand.tierOption(tier);
        DataFolder data = common.ownDataFolder();
        try (var narrator = Narrator.onStandardError()) {
            prepare(data, option, narrator);
            RecordResult result = work(data, option, narrator);
            return show(data, result, narrator);
        }
    }

    /// Everything that the first recording would have to wait for: image, QEMU and snapshot.
    private static void prepare(DataFolder data, TierOption option, Narrator narrator) throws VmException {
        var images = new LocalImages(data, narrator::say);
        GuestImage image;
        try {
            narrator.phase("image", "checking the guest image");
            image = images.open(LocalImages.DEFAULT);
        } catch (VmException e) {
            if (e.code() != Code.IMAGE_UNKNOWN) {
                throw e;
            }
            narrator.say("there is none yet; building it from Debian packages, which takes a few minutes");
            image = images.build(LocalImages.DEFAULT, null, LockPolicy.PREFER, LocalImages.Mirrors.OWN);
        }
        narrator.phase("machine", "preparing QEMU and a warm snapshot to start from");
        images.prepare(option, image, null);
    }

    private RecordResult work(DataFolder data, TierOption option, Narrator narrator) throws Exception {
        Path workspace = Files.createTempDirectory("blackbox-demo-");
        try (var service = new DemoService()) {
            DemoWorkspace.write(workspace);
            narrator.phase("record", "recording a scripted agent in a VM");
            RecordResult result = record(data, option, workspace, service, narrator);
            if (result.exitCode() != 0 || service.receivedBytes() == 0) {
                throw CommandException.failed(
                        "the demo's agent exited with code " + result.exitCode() + ", and its service received "
                                + service.receivedBytes() + " bytes; to see what it did: blackbox events "
                                + result.run(),
                        null);
            }
            return result;
        } finally {
            delete(workspace);
        }
    }

    private static RecordResult record(
            DataFolder data, TierOption option, Path workspace, DemoService service, Narrator narrator)
            throws Exception {
        List<String> command = DemoWorkspace.command(service.urlInGuest());
        var request = new RecordRequest(
                "demo",
                new RecordRequest.Agent(
                        command,
                        Map.of(),
                        "agent",
                        new AgentLimits(0, AgentLimits.DISK_BYTES_DEFAULT),
                        null,
                        TIMEOUT,
                        RecordRequest.SILENCE_MAX),
                workspace,
                new RecordRequest.Guest(LocalImages.DEFAULT, option, MachineSize.DEFAULT, Network.USER, null),
                CaptureLimits.DEFAULT,
                AlertOptions.NONE);
        var listener = new RecordListener() {
            @Override
            public void say(String line) {
                narrator.say(line);
            }

            @Override
            public void agentStarts() {
                narrator.say("the agent is working");
            }

            @Override
            public void agentEnded() {
                narrator.say("the agent has ended; copying its workspace back and closing the run");
            }
        };
        return new RecordSession(data, request, KafkaSettings.EMBEDDED, StandardStreams.asides(), listener).run();
    }

    private int show(DataFolder data, RecordResult result, Narrator narrator)
            throws IOException, ReplayException, InterruptedException {
        var recordings = new LocalTrust(data).recordings();
        RunId run = result.run();
        narrator.phase("touched", "listing what the run read, wrote, executed and called");
        TouchedInBrief touched = TouchedInBrief.collect(recordings, run);
        narrator.phase(
                "verify", "checking signatures, tree and completeness, from Parquet files and public keys alone");
        Verification verification = RunVerifier.verify(
                recordings, run, new LocalTrust(data).trustedKeys(), null, new LocalTrust(data).anchorTrust());
        narrator.phase("replay", "running it again from the same start, without any network, and comparing");
        ReplaySession.Verdicts verdicts = new ReplaySession(
                        data,
                        Tiers.built(Map.of(), OnMiss.END),
                        InstantSource.system(),
                        System::nanoTime,
                        narrator::say)
                .run(new ReplaySession.ReplayOptions(run, 1, null), new LocalTrust(data).trustedKeys());
        narrator.close();
        var report = new DemoReport(result, touched, verification, verdicts, narrator.phases());
        PrintWriter out = spec.commandLine().getOut();
        if (common.json()) {
            JsonOut.document(out, report::write);
        } else {
            report.print(out);
        }
        return report.exitCode();
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path each : all.sorted((a, b) -> b.compareTo(a)).toList()) {
                Files.delete(each);
            }
        }
    }
}
