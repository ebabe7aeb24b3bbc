package blackbox.cli;

import blackbox.cli.exit.ExitCodes;
import blackbox.evidence.GoldenWarehouse;
import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.bundle.BundleVerifier;
import blackbox.evidence.bundle.BundleWriter;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.sign.NoteVerifiers;
import blackbox.evidence.storage.LocalStore;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.verify.Verification;
import blackbox.ingest.table.CommitState;
import blackbox.ingest.table.CommitStep;
import blackbox.ingest.table.EventTable;
import blackbox.ingest.table.TableWriter;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Source;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/// A Blackbox of a later version, in a process of its own: [GrowthTest] puts a `Column` or a `Kind` with one
/// constant more in front of its class path.
public final class GrowthSubject {

    /// The constant that is added.
    static final String ADDED = "ADDED";

    /// What the new run has in the added column.
    static final String VALUE = "grown";

    static final String END = "exit code ";

    /// Began before the golden log of runs did, so that it needs no certificate in that log.
    static final RunId RUN = new RunId("01k8z000000000000000000001");

    private GrowthSubject() {}

    /// Ingests the new run into the data folder, writes and verifies its bundle, and carries out the commands,
    /// whose words are separated by tabs. The output of each ends with a line of [#END] and its exit code.
    public static void main(String[] args) throws Exception {
        Path data = Path.of(args[0]);
        ingest(data);
        bundle(data, RUN);
        System.out.println(END + ExitCodes.OK);
        for (String command : Arrays.copyOfRange(args, 1, args.length)) {
            int code = Main.run(command.split("\t", -1));
            System.out.println(END + code);
        }
    }

    /// Opens the warehouse for writing and commits a run that uses what was added.
    private static void ingest(Path data) throws Exception {
        var run = new TestRun(data, RUN, Ed25519Key.create("blackbox/recorder", new SecureRandom()));
        run.open("later");
        new TestEvents(run).compile(100, "/workspace/later.o");
        run.addLeaf(added(run.tick()));
        run.seal();
        run.close(0);
        try (EventTable table = EventTable.openForWriting(new DataFolder(data), LocalStore.in(new DataFolder(data)));
                var writer = new TableWriter(table, run.key, new Random(1), CommitStep.Observer.NONE)) {
            CommitState state = table.state();
            for (SealedBatch batch : run.batches) {
                writer.append(batch);
            }
            writer.complete(RUN);
            writer.commit(state);
        }
    }

    private static byte[] added(long atNs) {
        Row row = new Row().set(Column.AT_NS, atNs).set(Column.SOURCE, Source.HOST.code());
        row.set(Column.PATH, "/workspace/added");
        boolean kind = Arrays.stream(Kind.values()).anyMatch(each -> each.name().equals(ADDED));
        row.set(Column.KIND, kind ? Kind.valueOf(ADDED).code() : Kind.FILE_OPEN.code());
        if (!kind) {
            row.set(Column.valueOf(ADDED), VALUE);
        }
        var leaf = new byte[LeafCodec.size(row)];
        LeafCodec.encode(row, leaf, 0);
        return leaf;
    }

    /// Writes a bundle of the run and verifies it.
    private static void bundle(Path data, RunId run) throws Exception {
        Path bundle = data.resolve("later.bundle.zip");
        var key = Ed25519Key.create("blackbox/log/later", new SecureRandom());
        BundleWriter.write(Recordings.unchecked(data), run, key, bundle);
        Path recorder = data.resolve("keys/recorder.pub");
        var keys = List.of(
                key.verifier(),
                GoldenWarehouse.key(),
                NoteVerifiers.parse(Files.readString(recorder).strip()));
        Verification verification = BundleVerifier.verify(bundle, keys, AnchorTrust.none());
        System.out.println(verification.integrity() + " " + verification.events());
    }
}
