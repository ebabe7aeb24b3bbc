package blackbox.replay.disk;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.text.Timestamps;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunOpening;
import blackbox.query.run.RunState;
import blackbox.replay.Moment;
import blackbox.replay.Moment.Position;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.capture.CaptureSegment;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.disk.BlockLog.Applied;
import blackbox.replay.fs.ErofsTree;
import blackbox.replay.fs.Ext4Tree;
import blackbox.replay.fs.FileTree;
import blackbox.replay.fs.MergedTree;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.Command;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A run's disk at a moment, assembled in a scratch folder that is deleted when this is closed. Owned by one
/// thread.
public final class DiskAt implements AutoCloseable {
    private static final String IMAGE = "state.raw";
    private static final Duration COPY_TIMEOUT = Duration.ofMinutes(30);

    private final Summary shown;
    private final ScratchFolder scratch;
    private final Path root;
    private final List<FileTree> opened = new ArrayList<>();
    private @Nullable MergedTree tree;

    /// What is shown, which is never exactly the requested moment.
    ///
    /// @param asked the last event at or before the moment
    /// @param asOf the last sealed segment of the log that is used, or null for the disk at the run's start
    /// @param writes how many writes have been applied since the run began
    /// @param whole false if a later segment would have been used, had the log not been truncated
    /// @param syncedNs up to when all that the guest wrote is on this disk, as the guest said; nanoseconds since
    ///     1970, null if the run does not say
    /// @param limits in words, what may differ from what is shown
    public record Summary(
            Position asked,
            @Nullable CaptureSegment asOf,
            long writes,
            boolean whole,
            @Nullable Long syncedNs,
            List<String> limits) {
        public Summary {
            limits = List.copyOf(limits);
        }
    }

    private DiskAt(Summary shown, ScratchFolder scratch, Path root) {
        this.shown = shown;
        this.scratch = scratch;
        this.root = root;
    }

    /// Assembles a disk.
    ///
    /// @throws ReplayException `BAD_INPUT` when the moment is outside of the run or of its log, `MISSING`,
    ///     `ALTERED`, `ENGINE`
    /// @throws IOException when the run's events cannot be read
    public static DiskAt open(Recordings recordings, RunId run, Moment moment) throws ReplayException, IOException {
        RunFacts facts = RunFacts.read(recordings, run);
        RunFacts.Start start = facts.start();
        if (start == null) {
            throw new ReplayException(Code.MISSING, "the first event of run " + run + " is missing");
        }
        Position asked = moment.locate(recordings, run);
        SealedCapture log = SealedCapture.read(recordings, run, CaptureName.BLOCKS.text());
        var limits = new ArrayList<String>();
        CaptureSegment wanted = segmentAt(log, asked, moment.untilNs(start.atNs()));
        long intact = log.checkTo(wanted == null ? 0 : wanted.to());
        CaptureSegment used = log.segments().stream()
                .filter(each -> each.to() == intact)
                .findFirst()
                .orElse(null);
        boolean whole = wanted == null || intact == wanted.to();
        if (!whole) {
            limits.add(log.payload().file() + " is truncated at octet " + intact + " of " + log.sealedBytes()
                    + " that were sealed: this is the disk before the truncation, not at the requested moment");
        }
        Path captures = recordings.captureFolder(run);
        RunOpening opening = opening(facts);
        Path root = SealedImages.root(recordings.data(), captures, opening);
        Path base = SealedImages.state(captures, opening);
        ScratchFolder scratch = scratch(recordings.data());
        try {
            Path image = scratch.path().resolve(IMAGE);
            Applied applied = DiskImage.make(base, log, intact, image);
            Long synced = syncedNs(log, intact, start.atNs());
            limits.addAll(limits(facts, asked, log, used, synced, applied));
            limits.addAll(missingOverlay(image));
            return new DiskAt(new Summary(asked, used, applied.writes(), whole, synced, limits), scratch, root);
        } catch (ReplayException e) {
            close(scratch);
            throw e;
        }
    }

    static RunOpening opening(RunFacts facts) throws ReplayException {
        try {
            return facts.opening();
        } catch (IllegalArgumentException e) {
            throw new ReplayException(
                    Code.ALTERED, "the first event of run " + facts.run() + " cannot be read: " + e.getMessage(), e);
        }
    }

    /// What to report when the guest's disk cannot be read.
    static ReplayException unreadable(IOException cause) {
        return new ReplayException(
                Code.ENGINE,
                "the guest left a disk that cannot be shown: " + cause.getMessage() + "; --out writes its raw image",
                cause);
    }

    /// The last segment at or before a position: sealed by then, or written by then and sealed afterwards.
    ///
    /// The time of the position's event is the guest's claim. The host's own, of the next event that seals a
    /// segment, bounds it; and whatever event a guest dates back, nothing is shown that was written after
    /// `untilNs`.
    ///
    /// @param untilNs the time that was asked for, or no limit
    static @Nullable CaptureSegment segmentAt(SealedCapture log, Position asked, long untilNs) throws ReplayException {
        CaptureSegment found = null;
        Long bound = null;
        for (CaptureSegment each : log.segments()) {
            if (each.readNs() > untilNs) {
                break;
            }
            if (each.index() > asked.index()) {
                bound = bound == null ? Long.valueOf(Math.min(asked.atNs(), each.sealedNs())) : bound;
                if (each.readNs() > bound) {
                    break;
                }
            }
            found = each;
        }
        SealedCapture.Ended ended = log.ended();
        if (ended != null && ended.index() <= asked.index()) {
            throw new ReplayException(
                    Code.BAD_INPUT,
                    "the log of the disk ended at event " + ended.index() + ", " + Timestamps.format(ended.atNs())
                            + ", when it reached what --disk-log-max allowed; the last moment that can be shown is --at "
                            + (found == null ? 0 : found.index()));
        }
        return found;
    }

    /// Up to when all that the guest wrote lies within the first octets of its disk's log; before it has said
    /// anything, the run's start.
    private static @Nullable Long syncedNs(SealedCapture log, long intact, long startNs) {
        Long last = null;
        boolean ever = false;
        for (CaptureSegment each : log.segments()) {
            ever |= each.syncedNs() != null;
            if (each.from() <= intact && each.syncedBeforeNs() != null) {
                last = each.syncedBeforeNs();
            }
            if (each.to() <= intact && each.syncedNs() != null) {
                last = each.syncedNs();
            }
        }
        return last == null && ever ? (Long) startNs : last;
    }

    private static List<String> limits(
            RunFacts facts,
            Position asked,
            SealedCapture log,
            @Nullable CaptureSegment used,
            @Nullable Long synced,
            Applied applied) {
        var limits = new ArrayList<String>();
        limits.add(
                used == null
                        ? "no write was sealed before this moment: this is the disk at the run's start"
                        : lookedAt(used, asked));
        SealedCapture.Ended ended = log.ended();
        if (used != null && ended != null && used.to() == log.sealedBytes()) {
            limits.add("the log of the disk ends here: it reached what --disk-log-max allowed");
        }
        limits.add(
                synced == null
                        ? "data that the guest still had in memory and not yet on its disk is missing"
                        : "all that was written before " + Timestamps.format(Math.min(synced, asked.atNs()))
                                + " is on this disk, as the guest said then; of the "
                                + Math.max(0, (asked.atNs() - synced) / 1_000_000)
                                + " ms from then to the moment it may lack what the guest still had in memory");
        limits.add("/dev, /proc, /run and /sys are not on this disk");
        if (applied.unfinished()) {
            limits.add("QEMU was killed while it wrote the log; what it wrote after octet " + applied.bytes()
                    + " cannot be used");
        }
        if (facts.state() == RunState.TRUNCATED && asked.index() >= facts.events() - 1) {
            limits.add("the recorder ended before the run was closed: later writes were not sealed");
        }
        return limits;
    }

    /// What to say of a disk that has no place for the guest's files.
    private static List<String> missingOverlay(Path image) {
        try (FileTree disk = Ext4Tree.open(image)) {
            return MergedTree.upperRoot(disk) != null
                    ? List.of()
                    : List.of("this disk holds no folder for the guest's files: either none of them had been written to"
                            + " it yet, or the guest removed it; what is shown is its image alone");
        } catch (IOException _) {
            return List.of(); // its image can still be copied; who wants to see its files is told
        }
    }

    private static String lookedAt(CaptureSegment used, Position asked) {
        long lateNs = used.readNs() - asked.atNs();
        return "the log of writes is looked at about four times a second, last for this disk at "
                + Timestamps.format(used.readNs())
                + (lateNs > 0 ? ", " + lateNs / 1_000_000 + " ms after the event's own time" : "") + "; event "
                + used.index() + " seals it";
    }

    private static ScratchFolder scratch(Path data) throws ReplayException {
        try {
            return ScratchFolder.ofThisProcess(new DataFolder(data).scratch(), "disk-");
        } catch (VmException e) {
            throw new ReplayException(Code.ENGINE, String.valueOf(e.getMessage()), e);
        }
    }

    /// What is shown.
    public Summary shown() {
        return shown;
    }

    /// The guest's files: its writable disk over its image's root.
    ///
    /// @throws ReplayException `ENGINE` when the guest's disk cannot be read
    public MergedTree tree() throws ReplayException {
        MergedTree known = tree;
        if (known != null) {
            return known;
        }
        try {
            FileTree upper = Ext4Tree.open(scratch.path().resolve(IMAGE));
            opened.add(upper);
            FileTree lower = ErofsTree.open(root);
            opened.add(lower);
            known = new MergedTree(upper, MergedTree.upperRoot(upper), lower);
            tree = known;
            return known;
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    /// Copies the state disk's image, a raw ext4 with holes, to `target`, which must not exist.
    public void copyImage(Path target) throws ReplayException {
        if (Files.exists(target)) {
            throw new ReplayException(Code.BAD_INPUT, target + " exists already; name a file that does not");
        }
        Path image = scratch.path().resolve(IMAGE);
        try {
            // A copy that keeps the holes, up to 16 GiB of them, even on another file system.
            Command.of(
                            "cp",
                            "--sparse=always",
                            image.toString(),
                            target.toAbsolutePath().toString())
                    .within(COPY_TIMEOUT)
                    .run();
        } catch (VmException e) {
            throw new ReplayException(Code.ENGINE, target + " could not be written: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() throws ReplayException {
        try {
            for (FileTree each : opened) {
                each.close();
            }
        } catch (IOException e) {
            throw new ReplayException(Code.ENGINE, "the disk could not be closed", e);
        } finally {
            close(scratch);
        }
    }

    private static void close(ScratchFolder scratch) throws ReplayException {
        try {
            scratch.close();
        } catch (VmException e) {
            throw new ReplayException(Code.ENGINE, String.valueOf(e.getMessage()), e);
        }
    }
}
