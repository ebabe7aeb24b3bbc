package blackbox.evidence.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.GoldenWarehouse;
import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.bundle.BundleVerifier;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.verify.Verification.Completeness;
import blackbox.evidence.verify.Verification.Finding;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What revision a53f6e1 wrote holds to the last octet, and what it could not know is said and not held
/// against it.
class GoldenWarehouseTest {

    /// No kind has this code.
    private static final int UNKNOWN_KIND = 127;

    @TempDir
    Path folder;

    @Test
    void whatAnOlderVersionWroteHolds() throws Exception {
        var recordings = Recordings.unchecked(GoldenWarehouse.unpack(folder));
        Verification closed = RunVerifier.verify(recordings, GoldenWarehouse.CLOSED, List.of(GoldenWarehouse.key()));
        assertEquals(Integrity.VERIFIED, closed.integrity(), closed::toString);
        // What was made for it has a tracer that became ready, and no heartbeat of it.
        assertEquals(Completeness.UNKNOWN, closed.completeness());
        assertEquals(2, closed.unknownFrom());
        assertEquals(
                List.of(new Finding(
                        GoldenWarehouse.CLOSED_EVENTS - 2,
                        "TRACER_UNFINISHED: the run was closed without the last heartbeat of the guest's tracer from each"
                                + " CPU")),
                closed.findings());
        assertEquals(GoldenWarehouse.CLOSED_EVENTS, closed.events());
        Verification open = RunVerifier.verify(recordings, GoldenWarehouse.OPEN, List.of(GoldenWarehouse.key()));
        assertEquals(Integrity.VERIFIED, open.integrity(), open::toString);
        assertEquals(GoldenWarehouse.OPEN_EVENTS, open.events());
    }

    @Test
    void itsBundleHolds() throws Exception {
        Path bundle = GoldenWarehouse.bundle(folder.resolve("run.bundle.zip"));
        Verification verification = BundleVerifier.verify(bundle, List.of(GoldenWarehouse.key()), AnchorTrust.none());
        assertEquals(Integrity.VERIFIED, verification.integrity(), verification::toString);
        assertTrue(verification.authorship().trusted());
        assertEquals(GoldenWarehouse.CLOSED_EVENTS, verification.events());
    }

    /// A run with an event of a kind that nobody here knows, in a file that notes `kinds`.
    private Verification withUnknownKind(String options) throws Exception {
        var run = new TestRun(folder).open("odd");
        new TestEvents(run).compile(100, "/workspace/a.o");
        Row row = new Row().set(Column.KIND, UNKNOWN_KIND).set(Column.AT_NS, run.tick());
        row.set(Column.SOURCE, Source.HOST.code());
        var leaf = new byte[LeafCodec.size(row)];
        LeafCodec.encode(row, leaf, 0);
        long index = run.addLeaf(leaf);
        run.seal();
        run.close(0);
        run.table(0, run.batches.size(), "PARQUET_VERSION v2" + options);
        Verification verification =
                RunVerifier.verify(Recordings.unchecked(folder), run.run, List.of(run.key.verifier()));
        assertTrue(verification.findings().stream().map(Finding::index).anyMatch(at -> at == index));
        return verification;
    }

    @Test
    void anEventOfAnUnknownKindIsVerifiedAndSaid() throws Exception {
        Verification verification = withUnknownKind("");
        assertEquals(Integrity.VERIFIED, verification.integrity(), verification::toString);
        assertTrue(
                verification
                        .findings()
                        .getFirst()
                        .what()
                        .contains("a kind that this version of Blackbox does not know"),
                verification::toString);
    }

    /// Else a row could be kept from queries, which read columns, by leaving its kind out.
    @Test
    void aRowMustShowAKindThatItsWriterHadANameFor() throws Exception {
        Verification verification = withUnknownKind(", KV_METADATA {'blackbox.kinds': '127=test.unknown'}");
        assertEquals(Integrity.TAMPERED, verification.integrity(), verification::toString);
    }

    @Test
    void aFileGivesNoKnownKindAnotherName() throws Exception {
        var run = TestEvents.smallBuild(new TestRun(folder), 1);
        run.table(0, 1, "PARQUET_VERSION v2, KV_METADATA {'blackbox.kinds': '126=file.open'}");
        Verification verification =
                RunVerifier.verify(Recordings.unchecked(folder), run.run, List.of(run.key.verifier()));
        assertEquals(Integrity.TAMPERED, verification.integrity(), verification::toString);
    }
}
