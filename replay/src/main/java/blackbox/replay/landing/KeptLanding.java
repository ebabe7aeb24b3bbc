package blackbox.replay.landing;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.files.AtomicFiles;
import blackbox.files.ProcessLock;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.divergence.strand.Lineage;
import blackbox.replay.exact.ExactReplayer;
import blackbox.replay.inputs.Argv;
import blackbox.replay.inputs.CheckedInputs;
import blackbox.replay.kept.AgreedEvents;
import blackbox.replay.kept.AgreedEvents.Agreed;
import blackbox.replay.kept.KeptExecution;
import blackbox.replay.kept.KeptStore;
import blackbox.replay.seek.FrameLookup;
import blackbox.replay.seek.IndexLock;
import blackbox.replay.seek.Seeker;
import blackbox.replay.seek.Seekers;
import blackbox.replay.verdict.FirstDivergence;
import blackbox.replay.verdict.KeptReference;
import blackbox.replay.verdict.Refusal;
import blackbox.replay.verdict.Verdict;
import blackbox.schemas.Progress;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.row.Column;
import blackbox.schemas.view.EventViews;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.machine.MachineSize;
import blackbox.vm.machine.Network;
import blackbox.vm.replay.ReplayMachine;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A landing in a run that was recorded live, in a re-execution of it that was kept: at those events that both have,
/// up to where the two part.
public final class KeptLanding implements Landing, AutoCloseable {
    private static final String OF = "of";
    private static final int OF_OCTETS_MAX = 100;
    private static final long NEAR = 200;

    private final Recordings recordings;
    private final RunId run;
    private final KeptReference kept;
    private final KeptExecution execution;
    private final CheckedInputs inputs;
    private final @Nullable FirstDivergence parting;
    private final AgreedEvents agreed;
    private final ProcessLock use;

    /// @param verdict that binds the re-execution
    /// @param execution what it consists of
    /// @param inputs what it was started from, checked
    /// @param use keeps others from deleting it, and is closed with this
    public KeptLanding(
            Recordings recordings, Verdict verdict, KeptExecution execution, CheckedInputs inputs, ProcessLock use) {
        this.use = use;
        this.recordings = recordings;
        this.run = verdict.run();
        this.kept = Objects.requireNonNull(verdict.kept());
        this.execution = execution;
        this.inputs = inputs;
        this.parting = verdict.comparison().firstDivergence();
        this.agreed = new KeptStore(recordings, run).agreed(kept);
    }

    @Override
    public Recordings recordings() {
        return recordings;
    }

    @Override
    public RunId run() {
        return run;
    }

    @Override
    public Map<String, SealedCapture> captures() {
        return inputs.captures();
    }

    @Override
    public Agreement agreement() {
        return new Agreement(
                execution.agreement().agreed(), execution.agreement().events());
    }

    @Override
    public Seeker seeker(Progress progress) throws ReplayException, IOException {
        var data = new DataFolder(recordings.data());
        claimIndex(data);
        var streams =
                new Seeker.Streams(capture(CaptureName.LOG), capture(CaptureName.EVENTS), execution.emitAddress());
        return Seekers.open(data.root(), run, recording(), streams, progress);
    }

    private ReplayMachine.Recording recording() {
        return ExactReplayer.recording(
                execution.start(),
                inputs,
                new MachineSize(execution.memoryMib(), 1),
                new KeptStore(recordings, run).folder(kept));
    }

    /// Why this program cannot replay it, above all because it gives QEMU another command line; null if it can.
    public @Nullable Refusal refusal() throws ReplayException {
        return Argv.compare(execution.start().argv(), recording().argv(Network.PEER));
    }

    private SealedCapture capture(CaptureName name) throws ReplayException {
        SealedCapture capture = inputs.captures().get(name.text());
        if (capture == null) {
            throw new ReplayException(Code.MISSING, "the kept execution of run " + run + " has no file " + name.text());
        }
        return capture;
    }

    /// An index of another re-execution of this run would lead elsewhere: it is deleted.
    private void claimIndex(DataFolder data) throws IOException, ReplayException {
        Path index = data.index(run);
        byte[] own = (kept.name() + "\n").getBytes(StandardCharsets.US_ASCII);
        if (Arrays.equals(own, AtomicFiles.onDisk().read(index.resolve(OF), OF_OCTETS_MAX))) {
            return;
        }
        try (IndexLock lock = IndexLock.tryTake(data, run)) {
            if (lock == null) {
                throw new ReplayException(
                        Code.ENGINE,
                        "another process is indexing an earlier re-execution of run " + run
                                + "; wait for it, or end it");
            }
            ScratchFolder.delete(index);
            AtomicFiles.onDisk().replace(index.resolve(OF), own);
        } catch (VmException e) {
            throw new ReplayException(Code.ENGINE, "the index of another execution could not be deleted", e);
        }
    }

    @Override
    public FrameLookup at(long index) throws ReplayException, IOException {
        long wanted = lastCompared(index);
        Agreed last = agreed.at(Math.max(0, wanted));
        if (last != null && last.index() == wanted && !isParted(wanted)) {
            return FrameLookup.elsewhere(recordings, run, wanted, last.seq(), capture(CaptureName.EVENTS));
        }
        throw parted(Math.max(0, wanted));
    }

    private boolean isParted(long index) {
        return parting != null && index >= parting.index();
    }

    /// Says where the two part, and at what can be landed instead.
    private ReplayException parted(long wanted) throws IOException {
        FirstDivergence first = parting;
        if (first == null || wanted < first.index()) {
            return parted("event " + wanted + " has no counterpart in the re-execution", wanted);
        }
        return parted(
                "the re-execution did something else at event " + first.index() + " (expected: " + first.expected()
                        + "; it did: " + first.actual() + "), and event " + wanted + " is not before it",
                first.index() - 1);
    }

    private ReplayException parted(String why, long lastAgreed) throws IOException {
        Agreed before = agreed.at(lastAgreed);
        return new ReplayException(
                Code.PARTED,
                why
                        + (before == null
                                ? ", nor has any event before it"
                                : "; the last event before that both have: blackbox replay " + run + " --to "
                                        + before.index())
                        + "; `blackbox replay " + run + " --keep` executes the run once more");
    }

    /// The index of the last event at or before one that has a frame and a kind that is compared; -1 for none.
    private long lastCompared(long index) throws IOException {
        for (long from = Math.max(0, index - NEAR); ; from = 0) {
            long found = lastCompared(from, index);
            if (found >= 0 || from == 0) {
                return found;
            }
        }
    }

    private long lastCompared(long from, long index) throws IOException {
        long found = -1;
        var views = new EventViews();
        try (RunReader reader = RunReader.open(recordings, run, from)) {
            while (reader.next() && reader.index() <= index) {
                if (reader.row().has(Column.CPU_SEQ) && Lineage.isCompared(views.of(reader.row()))) {
                    found = reader.index();
                }
            }
        }
        return found;
    }

    @Override
    public @Nullable FrameLookup behind(long index, @Nullable Kind kind) throws ReplayException, IOException {
        try (RunReader reader = RunReader.open(recordings, run, index + 1);
                AgreedEvents.Cursor both = agreed.open()) {
            while (reader.next() && !isParted(reader.index())) {
                boolean wanted = kind == null || reader.row().number(Column.KIND) == kind.code();
                Agreed next = wanted && reader.row().has(Column.CPU_SEQ) ? both.skipTo(reader.index()) : null;
                if (next != null && next.index() == reader.index()) {
                    return FrameLookup.elsewhere(
                            recordings, run, next.index(), next.seq(), capture(CaptureName.EVENTS));
                }
            }
        }
        return null;
    }

    @Override
    public void close() throws IOException {
        use.close();
    }
}
