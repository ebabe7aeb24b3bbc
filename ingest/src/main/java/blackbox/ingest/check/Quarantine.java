package blackbox.ingest.check;

import blackbox.evidence.store.RefusedBatch;
import blackbox.files.AtomicFiles;
import blackbox.files.Folders;
import blackbox.ingest.IngestException;
import blackbox.schemas.Hash;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.stream.Stream;

/// Stores refused batches: `<root>/<run>/<sequence>-<hash>.batch` with the octets and `.json` with the
/// finding, both on disk before the topic's offset moves past them. Writing one again is harmless, so a crash
/// in between is too.
///
/// Bounded: once the stored batches take up `bytesMax`, further ones leave only their finding.
public final class Quarantine {

    private static final int HASH_DIGITS = 16;

    private final Path root;
    private final long bytesMax;
    private final AtomicFiles files = AtomicFiles.onDisk();
    private long bytes = -1;

    public Quarantine(Path root, long bytesMax) {
        this.root = root;
        this.bytesMax = bytesMax;
    }

    /// Stores the batch and its finding; returns the finding's file.
    public Path keep(CheckResult.Refused refused, Instant at) throws IngestException {
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
            var record = new RefusedBatch(
                    refused.run(),
                    refused.sequence(),
                    refused.reason().name(),
                    refused.what(),
                    refused.after() != null,
                    at,
                    refused.octets().length,
                    hash,
                    kept);
            Path finding = folder.resolve(name + ".json");
            files.replace(finding, record.toJson());
            return finding;
        } catch (IOException e) {
            throw IngestException.ofIo("cannot store a refused batch of run " + run + " in " + folder, e);
        }
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
