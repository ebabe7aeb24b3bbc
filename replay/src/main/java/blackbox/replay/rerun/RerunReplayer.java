package blackbox.replay.rerun;

import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.query.run.RunFacts;
import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.cassette.CassettePeer.Played;
import blackbox.replay.cassette.Miss;
import blackbox.replay.compare.ComparedFiles;
import blackbox.replay.compare.EventTape;
import blackbox.replay.compare.RecordedSide;
import blackbox.replay.divergence.Alignment;
import blackbox.replay.divergence.AlignmentSettings;
import blackbox.replay.divergence.Divergences;
import blackbox.replay.divergence.LeftFiles;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.divergence.cause.RunInputs;
import blackbox.replay.divergence.cause.RunInputs.Input;
import blackbox.replay.divergence.cause.Side;
import blackbox.replay.files.FilesAtEnd;
import blackbox.replay.files.RecordedFiles;
import blackbox.replay.output.OutputMatch;
import blackbox.replay.output.RecordedOutput;
import blackbox.replay.output.ReplayedOutput;
import blackbox.replay.rerun.ComparedOutput.Began;
import blackbox.replay.rerun.ComparedOutput.Extent;
import blackbox.replay.rerun.Rerun.Executed;
import blackbox.replay.tier.ReplayRequest;
import blackbox.replay.tier.Replayer;
import blackbox.replay.verdict.ClockOffset;
import blackbox.replay.verdict.Comparison;
import blackbox.replay.verdict.DifferingOctets;
import blackbox.replay.verdict.FirstDivergence;
import blackbox.replay.verdict.Levels;
import blackbox.replay.verdict.Refusal;
import blackbox.replay.verdict.Verdict;
import blackbox.replay.verdict.Verdict.Completion;
import blackbox.schemas.Hash;
import blackbox.schemas.Progress;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.Vault;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.machine.MachineHost;
import blackbox.vm.machine.StartFacts;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Replays a run that was recorded live by executing it again, and reports how far it behaved the same. The best
/// verdict is EQUIVALENT: the clock and what depends on it are the machine's own.
public final class RerunReplayer implements Replayer {
    /// What is permitted to differ in every re-execution.
    private static final List<String> RULES = List.of(
            "clock: the guest's clock is set to the recorded time right before the command starts, and then runs by itself",
            "random: the guest is given the recorded entropy, and what its kernel makes of it depends on timing",
            "network-time: an answer arrives as soon as its request has been sent",
            "dns-id: DNS questions are compared without their ids, which are random");

    private final Map<String, String> environment;
    private final OnMiss onMiss;
    private final MachineHost.Opener hosts;
    private final InstantSource wall = InstantSource.system();

    /// @param environment values of the run's variables; recordings keep only names
    /// @param onMiss what to do when something is asked that was not recorded
    /// @param hosts opens what runs the machines
    public RerunReplayer(Map<String, String> environment, OnMiss onMiss, MachineHost.Opener hosts) {
        this.environment = Collections.unmodifiableSortedMap(new TreeMap<>(environment));
        this.onMiss = onMiss;
        this.hosts = hosts;
    }

    @Override
    public ReplayMethod tier() {
        return ReplayMethod.RERUN;
    }

    @Override
    public Set<String> captures() {
        return CaptureName.texts(CaptureName.FRAMES);
    }

    @Override
    public List<Refusal> check(ReplayRequest request) throws ReplayException {
        var refusals = new ArrayList<Refusal>();
        List<String> missing = List.copyOf(RecordedAgent.of(request.facts()).missing(environment));
        String mend = "blackbox replay " + request.facts().run()
                + missing.stream().map(name -> " --env " + name).collect(Collectors.joining())
                + "  # with these variables set, or in a file with --env-file";
        for (String name : missing) {
            refusals.add(new Refusal(
                    DivergenceClass.IMAGE,
                    "the environment variable " + name,
                    "a value, which recordings do not keep",
                    Refusal.NOT_HERE,
                    mend));
        }
        Refusal input =
                RecordedInput.of(request.facts(), request.inputs().captures()).refusal();
        if (input != null) {
            refusals.add(input);
        }
        Refusal output = ComparedOutput.refusal(
                new RecordedOutput(request.facts(), request.inputs().captures()));
        if (output != null) {
            refusals.add(output);
        }
        return refusals;
    }

    @Override
    public Verdict replay(ReplayRequest request, Progress progress) throws ReplayException, InterruptedException {
        Path scratch = new DataFolder(request.recordings().data()).cache();
        try (var tape = new EventTape(scratch);
                var printed = ReplayedOutput.in(scratch);
                var place = ScratchFolder.ofThisProcess(scratch, ".disk-")) {
            Path disk = place.path().resolve("disk.raw");
            Executed executed = execute(request, tape, printed, disk, progress);
            return compared(request, executed, tape, printed, disk);
        } catch (IOException | VmException e) {
            throw new ReplayException(
                    Code.ENGINE, "the replay of run " + request.facts().run() + " failed", e);
        } catch (ReplayException e) {
            if (e.getCause() instanceof VmException) {
                return Verdict.failed(
                        request.facts().run(), wall.instant(), ReplayMethod.RERUN, String.valueOf(e.getMessage()));
            }
            throw e;
        }
    }

    private Verdict compared(
            ReplayRequest request, Executed executed, EventTape tape, ReplayedOutput printed, Path disk)
            throws IOException, ReplayException {
        try (ComparedFiles files = files(request, executed, tape, disk)) {
            Alignment alignment = align(request, executed, tape, files);
            String unfinished = unfinished(request.facts(), executed, alignment);
            ComparedOutput output = ComparedOutput.of(
                    new RecordedOutput(request.facts(), request.inputs().captures()),
                    printed,
                    extent(executed),
                    began(request.facts(), executed),
                    files);
            Verdict verdict = Verdict.of(
                    request.facts().run(),
                    wall.instant(),
                    ReplayMethod.RERUN,
                    comparison(request, executed, alignment, output, files),
                    new Completion(unfinished));
            keep(request, verdict, executed, output);
            return verdict;
        }
    }

    /// What differs may be secret: it is encrypted.
    private static void keep(ReplayRequest request, Verdict verdict, Executed executed, ComparedOutput output)
            throws IOException {
        Vault vault = PayloadKeyFile.vault(new DataFolder(request.recordings().data()));
        Miss missed = executed.result().missed();
        if (missed != null && missed.difference() != null) {
            DifferingOctets.REQUEST.keep(vault, verdict, missed.difference());
        }
        OutputMatch differs = output.differs();
        if (differs != null && differs.octets() != null) {
            DifferingOctets.OUTPUT.keep(vault, verdict, differs.octets());
        }
    }

    private static Began began(RunFacts facts, Executed executed) throws ReplayException {
        RecordedAgent.GuestTimes recorded = RecordedAgent.of(facts).times().guest();
        ClockOffset offset = executed.result().clock();
        return recorded == null || offset == null
                ? Began.UNKNOWN
                : new Began(recorded.startNs(), recorded.startNs() + offset.startNs());
    }

    private static Levels.Extent extent(Alignment alignment, ComparedOutput output) {
        LeftFiles.Result left = alignment.left();
        if (left == null || output.extent() == Levels.Extent.PART) {
            return Levels.Extent.PART;
        }
        return left.tied() ? Levels.Extent.ALL_BUT_VALUES : output.extent();
    }

    private static Extent extent(Executed executed) {
        return executed.result().exit() == null ? Extent.ENDED : Extent.WHOLE;
    }

    private Executed execute(
            ReplayRequest request, EventTape tape, ReplayedOutput printed, Path disk, Progress progress)
            throws ReplayException, InterruptedException {
        var inputs = request.inputs();
        return new Rerun(request.recordings(), request.facts(), environment, onMiss, hosts)
                .execute(inputs.image(), inputs.workspace(), inputs.captures(), tape, printed, disk, progress);
    }

    private static ComparedFiles files(ReplayRequest request, Executed executed, EventTape tape, Path disk) {
        var recordings = request.recordings();
        var facts = request.facts();
        String unknown = executed.result().diskUnknown();
        return new ComparedFiles(
                ComparedFiles.of(recordings, facts),
                new ComparedFiles.Left(
                        () -> unknown == null
                                ? new RecordedFiles.Known(FilesAtEnd.ofImage(disk))
                                : new RecordedFiles.Unknown(unknown),
                        tape));
    }

    private static Alignment align(ReplayRequest request, Executed executed, EventTape tape, LeftFiles files)
            throws IOException, ReplayException {
        Side recorded = RecordedSide.of(request.recordings(), request.facts().run());
        var actual = new Side("replay", tape, inputs(executed.result().facts()));
        return Divergences.align(recorded, actual, files, AlignmentSettings.of(new SecureRandom().nextLong()));
    }

    private static RunInputs inputs(StartFacts facts) {
        var values = new EnumMap<Input, String>(Input.class);
        Hash snapshot = facts.snapshotDigest();
        values.put(Input.IMAGE, facts.imageDigest().toString());
        values.put(Input.SNAPSHOT, snapshot == null ? "none" : snapshot.toString());
        values.put(Input.QEMU, facts.hypervisor().sha256().toString());
        values.put(Input.WORKSPACE, facts.workspace().sha256().toString());
        return new RunInputs(values);
    }

    private Comparison comparison(
            ReplayRequest request, Executed executed, Alignment alignment, ComparedOutput output, ComparedFiles files)
            throws IOException, ReplayException {
        var rules = new ArrayList<>(RULES);
        if (!environment.isEmpty()) {
            rules.add("environment: the values of "
                    + String.join(", ", environment.keySet().stream().sorted().toList()) + " were supplied again");
        }
        alignment.rules().forEach(rule -> rules.add(meaning(rule)));
        var found = alignment.firstDivergence();
        FirstDivergence ofEvents = found == null ? null : FirstDivergence.of(found);
        var compared = new ArrayList<>(List.of("events of the guest and of its network, as the recorder sees them"));
        compared.addAll(output.compared());
        compared.addAll(files.compared());
        var notCompared = new ArrayList<>(notCompared(request, executed, alignment));
        notCompared.addAll(output.notCompared());
        notCompared.addAll(files.notCompared());
        OutputMatch differs = output.differs();
        return new Comparison(
                rules,
                compared,
                notCompared,
                alignment.comparedEvents(),
                output.divergence(ofEvents, request.recordings(), request.facts()),
                0,
                executed.result().clock(),
                Levels.of(
                        alignment.differences(),
                        Levels.of(differs == null ? null : differs.difference()),
                        extent(alignment, output)));
    }

    private @Nullable String unfinished(RunFacts facts, Executed executed, Alignment alignment) {
        if (executed.result().missed() != null && onMiss == OnMiss.END) {
            return "it was ended at the first request that the recording has no answer to; `blackbox replay "
                    + facts.run() + " --go-on` lets it continue";
        }
        if (executed.result().exit() == null) {
            return "the command was ended: it took more than twenty times as long as when it was recorded, and two minutes";
        }
        if (alignment.outcome() != Alignment.Outcome.INCOMPLETE) {
            return null;
        }
        return facts.end() == null
                ? "the recording of run " + facts.run() + " has no end; the replay agrees with it as far as it goes"
                : "the replay agrees as far as it could be compared: events are missing, or the two differ in too much"
                        + " for the memory limit";
    }

    private static List<String> notCompared(ReplayRequest request, Executed executed, Alignment alignment) {
        var lines = new ArrayList<>(alignment.notCompared());
        lines.add(RecordedInput.of(request.facts(), request.inputs().captures()).limit());
        lines.addAll(executed.limits());
        Played played = executed.result().played();
        if (played.unusedConnections() + played.unusedDatagrams() > 0) {
            lines.add(played.unusedConnections() + " recorded connections and " + played.unusedDatagrams()
                    + " recorded datagrams that the replay did not ask for");
        }
        return lines;
    }

    private static String meaning(String rule) {
        return Alignment.RULES.stream()
                .filter(each -> each.startsWith(rule + ":"))
                .findFirst()
                .orElse(rule);
    }
}
