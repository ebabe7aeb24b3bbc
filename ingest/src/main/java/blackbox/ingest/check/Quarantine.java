package blackbox.ingest.check;

import blackbox.files.AtomicFiles;
import blackbox.files.Folders;
import blackbox.ingest.IngestException;
import blackbox.schemas.Hash;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.stream.Stream;

/// Keeps refused batches: `<root>/<run>/<sequence>-<hash>.batch` with the octets and `.json` with the finding,
/// both on disk before the topic's offset moves past them. Writing one again is harmless, so a crash in between
/// is too.
///
/// Bounded: once the batches kept take up `bytesMax`, further ones leave only their finding.
public final class Quarantine {

    private static final int HASH_DIGITS = 16;

    private final Path root;
    private final long bytesMax;
    private final AtomicFiles files = AtomicFiles.onDisk();
    private final JsonMapper json = JsonMapper.builder().build();
    private long bytes = -1;

    public Quarantine(Path root, long bytesMax) {
        this.root = root;
        this.bytesMax = bytesMax;
    }

    /// Keeps the batch and its finding; returns the finding's file.
    public Path keep(Verdict.Refused refused, Instant at) throws IngestException {
        String run = refused.run() == null ? "unknown" : refused.run().value();
        Hash hash = Hash.sha256(refused.octets());
        String sequence = refused.sequence() < 0 ? "unknown" : "%012d".formatted(refused.sequence());
        String name = sequence + "-" + hash.toString().substring(0, HASH_DIGITS);
        Path folder = root.resolve(run);
        try {
            Folders.create(folder);
            Folders.sync(root);
            boolean kept = room(refused.octets().length);
            if (kept) {
                files.replace(folder.resolve(name + ".batch"), refused.octets());
            }
            Path finding = folder.resolve(name + ".json");
            files.replace(finding, json.writeValueAsBytes(finding(refused, hash, kept, at)));
            return finding;
        } catch (IOException e) {
            throw IngestException.ofIo("cannot keep a refused batch of run " + run + " in " + folder, e);
        }
    }

    private ObjectNode finding(Verdict.Refused refused, Hash hash, boolean kept, Instant at) {
        ObjectNode node = json.createObjectNode();
        node.put("version", 1);
        node.put("run", refused.run() == null ? null : refused.run().value());
        node.put("sequence", refused.sequence());
        node.put("reason", refused.reason().name());
        node.put("what", refused.what());
        node.put("stopsRun", refused.after() != null);
        node.put("at", at.toString());
        node.put("bytes", refused.octets().length);
        node.put("sha256", hash.toString());
        node.put("kept", kept);
        return node;
    }

    private boolean room(int more) throws IOException {
        if (bytes < 0) {
            try (Stream<Path> files = Files.walk(root)) {
                bytes = files.filter(Files::isRegularFile)
                        .mapToLong(file -> file.toFile().length())
                        .sum();
            }
        }
        if (bytes + more > bytesMax) {
            return false;
        }
        bytes += more;
        return true;
    }
}
