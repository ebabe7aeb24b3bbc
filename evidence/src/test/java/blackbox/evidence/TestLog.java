package blackbox.evidence;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.EntryBundle;
import blackbox.evidence.log.MerkleFrontier;
import blackbox.evidence.log.NoteSigner;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.log.TilePath;
import blackbox.evidence.log.TreeHasher;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.trust.KeyStatement;
import blackbox.evidence.trust.KeyStatement.Action;
import blackbox.evidence.trust.KeyStatement.Role;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/// A log of runs for tests, written as plainly as can be.
public final class TestLog {

    public static final String ORIGIN = "blackbox/log/test";

    public final Path folder;
    public final Ed25519Key key = Ed25519Key.create(ORIGIN, new SecureRandom());
    public final List<byte[]> entries = new ArrayList<>();
    public List<NoteSigner> signers = List.of(key);

    /// The key that seals data files; the log knows it once it has begun.
    public final Ed25519Key ingest = Ed25519Key.create("blackbox/ingest", new SecureRandom());
    private long published;

    public TestLog(Path folder) {
        this.folder = folder;
    }

    /// Adds the statements that begin the log and vouch for ingest's key, as of a day before [TestRun#START_NS].
    public TestLog begin() {
        Instant from = Instant.ofEpochSecond(0, TestRun.START_NS).minus(Duration.ofDays(1));
        add(sign(new KeyStatement(Action.BEGIN, ORIGIN, key.verifier(), Role.LOG, from, null)));
        add(sign(new KeyStatement(Action.CERTIFY, ORIGIN, ingest.verifier(), Role.INGEST, from, null)));
        return this;
    }

    private String sign(KeyStatement statement) {
        return SignedNote.sign(statement.text(), key);
    }

    /// Adds an entry and returns its index.
    public long add(String entry) {
        entries.add(entry.getBytes(StandardCharsets.UTF_8));
        return entries.size() - 1L;
    }

    /// The tree's checkpoint, without signatures.
    public Checkpoint checkpoint() {
        var tree = new MerkleFrontier();
        entries.forEach(entry -> tree.append(new TreeHasher().leaf(entry)));
        return new Checkpoint(ORIGIN, tree.size(), tree.root());
    }

    /// The signed checkpoint of the first `size` entries.
    public String noteOf(int size) {
        var tree = new MerkleFrontier();
        entries.subList(0, size).forEach(entry -> tree.append(new TreeHasher().leaf(entry)));
        return SignedNote.sign(new Checkpoint(ORIGIN, size, tree.root()).text(), signers);
    }

    /// Writes tiles, bundles and the checkpoint; returns the checkpoint's file.
    public Path publish() throws IOException {
        for (TilePath tile : TilePath.grown(published, entries.size())) {
            Path file = folder.resolve(tile.path());
            Files.createDirectories(file.resolveSibling("."));
            Files.write(file, octets(tile));
        }
        published = entries.size();
        Files.createDirectories(folder);
        return Files.writeString(
                folder.resolve("checkpoint"), SignedNote.sign(checkpoint().text(), signers));
    }

    private byte[] octets(TilePath tile) {
        int first = (int) tile.index() * TilePath.FULL;
        if (tile.level() == TilePath.ENTRIES) {
            return new EntryBundle(entries.subList(first, first + tile.width())).encoded();
        }
        var octets = new ByteArrayOutputStream();
        int span = 1 << 8 * tile.level();
        for (int i = first; i < first + tile.width(); i++) {
            var subtree = new MerkleFrontier();
            entries.subList(i * span, (i + 1) * span).forEach(entry -> subtree.append(new TreeHasher().leaf(entry)));
            octets.writeBytes(subtree.root().toBytes());
        }
        return octets.toByteArray();
    }
}
