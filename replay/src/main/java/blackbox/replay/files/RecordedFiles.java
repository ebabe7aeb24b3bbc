package blackbox.replay.files;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunState;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.capture.Payload;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.disk.DiskImage;
import blackbox.replay.disk.DiskImage.Extent;
import blackbox.schemas.event.Kind;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What is known of the files that a recorded run left.
public sealed interface RecordedFiles {

    /// All of them.
    record Known(FilesAtEnd files) implements RecordedFiles {}

    /// Not all of them, so that nothing can be compared with them.
    ///
    /// @param why as a sentence without its end
    record Unknown(String why) implements RecordedFiles {}

    /// Assembles the disk that a run left: its sealed base and all sealed writes, every octet checked.
    ///
    /// All that the guest had in memory is on it only if the guest shut down by itself, because its first process
    /// writes everything back right before that.
    ///
    /// @throws ReplayException `ALTERED` when something is not what the run sealed, `ENGINE`
    /// @throws IOException when the run's events cannot be read
    static RecordedFiles of(Recordings recordings, RunFacts facts) throws ReplayException, IOException {
        String why = unended(facts);
        if (why != null) {
            return new Unknown(why);
        }
        try {
            Payload.refuseShredded(recordings, facts.run());
            Sealed sealed = Sealed.read(recordings, facts);
            SealedCapture log = sealed.log();
            why = sealed.incomplete(facts);
            return log == null || why != null ? new Unknown(String.valueOf(why)) : assembled(recordings, facts, log);
        } catch (ReplayException e) {
            if (e.code() != Code.MISSING) {
                throw e;
            }
            return new Unknown(String.valueOf(e.getMessage()));
        }
    }

    /// Why a run is one whose last writes are not sealed, or null.
    private static @Nullable String unended(RunFacts facts) {
        RunFacts.End end = facts.end();
        if (facts.state() != RunState.CLOSED || end == null) {
            return facts.state() == RunState.OPEN
                    ? "the run is still being recorded"
                    : "the recorder ended without closing the run, so its last writes to the disk are not sealed";
        }
        if (end.exitCode() == null && end.signal() == null) {
            return "the recorded command did not come to its end";
        }
        String unsealed =
                end.detail().path("unsealed").path(CaptureName.BLOCKS.text()).textValue();
        return unsealed == null ? null : "the recorded disk's last writes are not sealed: " + unsealed;
    }

    private static RecordedFiles assembled(Recordings recordings, RunFacts facts, SealedCapture log)
            throws ReplayException {
        ScratchFolder scratch = scratch(recordings.data());
        boolean kept = false;
        try {
            Path image = scratch.path().resolve("state.raw");
            if (DiskImage.afterLast(recordings, facts, log, image) == Extent.PARTIAL) {
                return new Unknown("the log of the recorded disk ends within a write");
            }
            var known = new Known(FilesAtEnd.in(image, scratch));
            kept = true;
            return known;
        } finally {
            if (!kept) {
                FilesAtEnd.delete(scratch);
            }
        }
    }

    private static ScratchFolder scratch(Path data) throws ReplayException {
        try {
            return ScratchFolder.ofThisProcess(new DataFolder(data).scratch(), "disk-");
        } catch (VmException e) {
            throw new ReplayException(Code.ENGINE, String.valueOf(e.getMessage()), e);
        }
    }

    /// What a run's events say of its disk.
    ///
    /// @param log of the disk's writes, null if none of it is sealed
    /// @param poweredOff whether the guest shut down by itself, as the hypervisor saw it
    record Sealed(@Nullable SealedCapture log, boolean poweredOff) {
        private static final Set<Column> COLUMNS = EnumSet.of(Column.KIND, Column.AT_NS, Column.WHAT, Column.DETAIL);

        private static Sealed read(Recordings recordings, RunFacts facts) throws ReplayException, IOException {
            var captures = new SealedCapture.Collector(recordings, facts.run());
            boolean poweredOff = false;
            try (RunReader reader = RunReader.open(recordings, facts.run(), 0, COLUMNS)) {
                while (reader.next()) {
                    captures.see(reader.row(), reader.index());
                    poweredOff |= isPowerOff(reader.row());
                }
            }
            return new Sealed(captures.captures().get(CaptureName.BLOCKS.text()), poweredOff);
        }

        /// Whether an event is QEMU's of a guest that turned its machine off. One whose kernel failed resets it.
        static boolean isPowerOff(Row row) {
            if (!row.has(Column.KIND)
                    || row.number(Column.KIND) != Kind.VM_LIFECYCLE.code()
                    || !row.has(Column.WHAT)
                    || !row.text(Column.WHAT).toString().equals("SHUTDOWN")) {
                return false;
            }
            JsonNode detail = RunFacts.detailOf(row);
            return detail.path("guest").asBoolean()
                    && detail.path("reason").asText().equals("guest-shutdown");
        }

        /// Why the log does not lead to the disk that the guest left, or null.
        @Nullable
        String incomplete(RunFacts facts) {
            if (log == null) {
                return "run " + facts.run() + " was recorded without a log of its disk";
            }
            if (log.ended() != null) {
                return "the log of the recorded disk ended early, when it reached what --disk-log-max allowed";
            }
            return poweredOff ? null : "the recorded guest was ended before it had written everything to its disk";
        }
    }
}
