package blackbox.replay.rerun;

import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.compare.ComparedOutput;
import blackbox.replay.compare.EventTape;
import blackbox.replay.divergence.align.Agreements;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.divergence.cause.RunInputs;
import blackbox.replay.divergence.cause.RunInputs.Input;
import blackbox.replay.files.FilesAtEnd;
import blackbox.replay.files.RecordedFiles;
import blackbox.replay.kept.Keeping;
import blackbox.replay.output.RecordedOutput;
import blackbox.replay.output.ReplayedOutput;
import blackbox.replay.rerun.Rerun.Executed;
import blackbox.replay.tier.ReplayRequest;
import blackbox.replay.tier.Replayer;
import blackbox.replay.verdict.DifferingOctets;
import blackbox.replay.verdict.Refusal;
import blackbox.replay.verdict.Verdict;
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
    /// What becomes of an execution that was compared.
    public enum Afterwards {
        /// Nothing of it is kept but the verdict.
        DISCARD,
        /// It takes place in a machine of the exact tier, several times slower, and is kept, so that each moment that
        /// it has in common with the recording can be landed in; unless there is none.
        KEEP
    }

    private final Map<String, String> environment;
    private final OnMiss onMiss;
    private final MachineHost.Opener hosts;
    private final Afterwards afterwards;
    private final InstantSource wall = InstantSource.system();

    /// @param environment values of the run's variables; recordings keep only names
    /// @param onMiss what to do when something is asked that was not recorded
    /// @param hosts opens what runs the machines
    /// @param afterwards what becomes of an execution that was compared
    public RerunReplayer(
            Map<String, String> environment, OnMiss onMiss, MachineHost.Opener hosts, Afterwards afterwards) {
        this.environment = Collections.unmodifiableSortedMap(new TreeMap<>(environment));
        this.onMiss = onMiss;
        this.hosts = hosts;
        this.afterwards = afterwards;
    }

    @Override
    public ReplayMethod tier() {
        return ReplayMethod.RERUN;
    }

    @Override
    public boolean keeps() {
        return afterwards == Afterwards.KEEP;
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
        if (afterwards == Afterwards.DISCARD) {
            return replay(request, null, progress);
        }
        try (var keeping = Keeping.of(request.recordings(), request.facts().run())) {
            return replay(request, keeping, progress);
        } catch (IOException | VmException e) {
            throw new ReplayException(
                    Code.ENGINE, "the re-execution of run " + request.facts().run() + " could not be kept", e);
        }
    }

    private Verdict replay(ReplayRequest request, @Nullable Keeping keeping, Progress progress)
            throws ReplayException, InterruptedException {
        Path scratch = new DataFolder(request.recordings().data()).cache();
        try (var tape = new EventTape(scratch);
                var printed = ReplayedOutput.in(scratch);
                var place = ScratchFolder.ofThisProcess(scratch, ".disk-")) {
            Path disk = place.path().resolve("disk.raw");
            var left = new Rerun.Place(disk, keeping == null ? null : keeping.captures());
            Executed executed = execute(request, tape, printed, left, progress);
            Agreements agreements = keeping == null ? Agreements.NOBODY : keeping.agreements();
            RerunComparison.Judged judged = new RerunComparison(recorded(request), onMiss, environment)
                    .with(replayed(executed, tape, printed, disk), agreements, wall.instant());
            keep(request, judged);
            Verdict verdict = judged.verdict();
            return keeping == null || verdict.comparison().events() == 0
                    ? verdict
                    : verdict.with(keeping.store(
                            executed.result().facts(),
                            tape,
                            verdict.comparison().events(),
                            request.facts().events()));
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

    private static RerunComparison.Recorded recorded(ReplayRequest request) {
        return new RerunComparison.Recorded(
                request.recordings(),
                request.facts(),
                request.inputs().captures(),
                () -> FilesAtEnd.ofRun(request.recordings(), request.facts()));
    }

    private static RerunComparison.Replayed replayed(
            Executed executed, EventTape tape, ReplayedOutput printed, Path disk) {
        Reexecution.Result result = executed.result();
        String unknown = result.diskUnknown();
        return new RerunComparison.Replayed(
                inputs(result.facts()),
                tape,
                printed,
                () -> unknown == null
                        ? new RecordedFiles.Known(FilesAtEnd.ofImage(disk))
                        : new RecordedFiles.Unknown(unknown),
                executed.authority(),
                new RerunComparison.Ending(result.exit() != null, result.missed(), result.clock(), result.played()),
                executed.limits());
    }

    /// What differs may be secret: it is encrypted.
    private static void keep(ReplayRequest request, RerunComparison.Judged judged) throws IOException {
        Vault vault = PayloadKeyFile.vault(new DataFolder(request.recordings().data()));
        if (judged.request() != null) {
            DifferingOctets.REQUEST.keep(vault, judged.verdict(), judged.request());
        }
        if (judged.output() != null) {
            DifferingOctets.OUTPUT.keep(vault, judged.verdict(), judged.output());
        }
    }

    private Executed execute(
            ReplayRequest request, EventTape tape, ReplayedOutput printed, Rerun.Place left, Progress progress)
            throws ReplayException, InterruptedException {
        var inputs = request.inputs();
        return new Rerun(request.recordings(), request.facts(), environment, onMiss, hosts)
                .execute(inputs.image(), inputs.workspace(), inputs.captures(), tape, printed, left, progress);
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
}
