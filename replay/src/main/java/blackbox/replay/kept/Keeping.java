package blackbox.replay.kept;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.recorder.guest.TracerReport;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.divergence.align.Agreements;
import blackbox.replay.divergence.strand.EventSource;
import blackbox.replay.inputs.SealedStart;
import blackbox.replay.verdict.KeptReference;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.FileFingerprint;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.machine.StartFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;

/// Keeps one re-execution: gives its machine a folder, is told which events agree, and then stores it. What is not
/// stored is deleted when this is closed. Owned by one thread.
public final class Keeping implements AutoCloseable {
    /// What the names of its folders begin with, in the data folder's cache.
    public static final String SCRATCH = ".kept-";

    private static final int NAME_OCTETS = 4;

    private final KeptStore store;
    private final RunId run;
    private final ScratchFolder scratch;
    private final Path captures;
    private final AgreedEvents.Collector agreed = new AgreedEvents.Collector();
    private final String name;

    private Keeping(Recordings recordings, RunId run, ScratchFolder scratch, Path captures) {
        this.store = new KeptStore(recordings, run);
        this.run = run;
        this.scratch = scratch;
        this.captures = captures;
        var octets = new byte[NAME_OCTETS];
        new SecureRandom().nextBytes(octets);
        this.name = HexFormat.of().formatHex(octets);
    }

    /// Prepares to keep a re-execution of a run.
    public static Keeping of(Recordings recordings, RunId run) throws VmException, IOException {
        ScratchFolder scratch = ScratchFolder.ofThisProcess(new DataFolder(recordings.data()).cache(), SCRATCH);
        Path captures = Files.createDirectory(
                scratch.path().resolve("captures"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        return new Keeping(recordings, run, scratch, captures);
    }

    /// Where its machine leaves what was captured of it.
    public Path captures() {
        return captures;
    }

    /// To be told which events agree.
    public Agreements agreements() {
        return agreed;
    }

    /// Stores it, durably.
    ///
    /// @param facts how its machine was started
    /// @param events its events
    /// @param agreedEvents how many of them agree
    /// @param recordedEvents how many the run has
    /// @throws ReplayException `ENGINE` when its image does not say where its frames are emitted
    public KeptReference store(StartFacts facts, EventSource events, long agreedEvents, long recordedEvents)
            throws ReplayException, IOException {
        Long emitAddress = TracerReport.of(facts.ready().tracer()).emitAddress();
        if (emitAddress == null) {
            throw new ReplayException(
                    Code.ENGINE, "the guest's tracer does not say where it emits events: nothing can be landed in");
        }
        return store.store(name, captures, (file, captured) -> {
            agreed.write(file, events);
            return new KeptExecution(
                    run,
                    start(facts),
                    facts.size().memoryMib(),
                    emitAddress,
                    captured,
                    new KeptExecution.Agreement(FileFingerprint.hash(file), agreedEvents, recordedEvents));
        });
    }

    private static SealedStart start(StartFacts facts) {
        return new SealedStart(
                ReplayMethod.EXACT,
                facts.imageName(),
                facts.imageDigest(),
                facts.snapshotDigest(),
                new SealedStart.Workspace(
                        facts.workspace().sha256(), facts.workspace().bytes()),
                new SealedStart.SealedQemu(
                        facts.hypervisor().version(), facts.hypervisor().sha256()),
                facts.argv());
    }

    @Override
    public void close() throws VmException {
        scratch.close();
    }
}
