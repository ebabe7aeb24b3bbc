package blackbox.replay.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.replay.Moment.Position;
import blackbox.replay.capture.CaptureSegment;
import blackbox.replay.capture.Payload;
import blackbox.replay.capture.SealedCapture;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Which part of a disk's log belongs to a moment.
class SegmentAtTest {

    @TempDir
    Path folder;

    @Test
    void whatWasSealedByTheMomentIsUsed() throws Exception {
        SealedCapture log = log(segment(10, 1_000, 1_000), segment(20, 2_000, 2_000));
        assertNull(DiskAt.segmentAt(log, new Position(9, 990), Long.MAX_VALUE));
        assertEquals(10, index(log, new Position(10, 1_000)));
        assertEquals(10, index(log, new Position(19, 1_990)));
        assertEquals(20, index(log, new Position(20, 2_000)));
        assertEquals(20, index(log, new Position(900, 90_000)));
    }

    @Test
    void whatWasWrittenByTheMomentAndSealedLaterIsUsed() throws Exception {
        SealedCapture log = log(segment(10, 1_000, 2_000), segment(20, 1_250, 2_250), segment(30, 1_500, 2_500));
        assertNull(DiskAt.segmentAt(log, new Position(5, 999), Long.MAX_VALUE));
        assertEquals(10, index(log, new Position(5, 1_249)));
        assertEquals(20, index(log, new Position(5, 1_250)));
        assertEquals(30, index(log, new Position(5, 1_600)));
    }

    /// A guest that gives an event a time to come does not move the disk past what the host sealed next.
    @Test
    void aTimeOfTheGuestsIsBoundedByTheHosts() throws Exception {
        SealedCapture log = log(segment(10, 1_000, 2_000), segment(20, 2_100, 3_100), segment(30, 3_000, 4_000));
        assertEquals(10, index(log, new Position(5, 999_999)));
    }

    /// A guest that dates an event back gets no older disk than the one that was sealed by then.
    @Test
    void aTimeInThePastDoesNotHideWhatWasSealed() throws Exception {
        SealedCapture log = log(segment(10, 1_000, 2_000), segment(20, 2_100, 3_100));
        assertEquals(10, index(log, new Position(15, 3)));
    }

    /// A guest that, at the end, dates an event back makes it the last one before any time since: the disk is that of
    /// the time, not of the event's place.
    @Test
    void anEventThatIsDatedBackDoesNotMoveTheDiskOfATime() throws Exception {
        SealedCapture log = log(segment(10, 1_000, 2_000), segment(20, 2_100, 3_100), segment(30, 5_000, 6_000));
        CaptureSegment found = DiskAt.segmentAt(log, new Position(900, 3), 2_500);
        assertEquals(20, found == null ? -1 : found.index());
        assertNull(DiskAt.segmentAt(log, new Position(900, 3), 999));
    }

    private static long index(SealedCapture log, Position asked) throws Exception {
        @Nullable CaptureSegment found = DiskAt.segmentAt(log, asked, Long.MAX_VALUE);
        return found == null ? -1 : found.index();
    }

    /// The segment of one octet whose place follows from its event's index.
    private static CaptureSegment segment(long index, long readNs, long sealedNs) {
        return new CaptureSegment(
                index, readNs, sealedNs, index / 10, index / 10 + 1, Hash.sha256(new byte[1]), null, null);
    }

    private SealedCapture log(CaptureSegment... segments) {
        var payload = new Payload(
                PayloadKeyFile.vault(new DataFolder(folder)), new RunId("01m88ta2pycd3ec9zxxwrw48kb"), "blocks");
        return new SealedCapture("blocks", payload, List.of(segments), null);
    }
}
