package blackbox.console;

import blackbox.evidence.EvidenceException;
import blackbox.evidence.TestEvents;
import blackbox.evidence.TestLog;
import blackbox.evidence.TestRun;
import blackbox.evidence.attest.DsseEnvelope;
import blackbox.evidence.attest.InTotoStatement;
import blackbox.evidence.bundle.BundleVerifier;
import blackbox.evidence.bundle.BundleWriter;
import blackbox.evidence.store.Recordings;
import blackbox.schemas.Hash;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/// A data folder with a closed run in the table and a log of runs that knows it, and bundles of it.
final class Bundles {
    static final int BATCHES = 4;

    final Path data;
    final TestLog log;
    final TestRun run;

    Bundles(Path data) throws Exception {
        this.data = data;
        log = new TestLog(data.resolve("log")).begin();
        run = TestEvents.smallBuild(TestRun.certified(data, log), BATCHES);
        run.table(0, 3, "PARQUET_VERSION v2");
        run.table(3, run.batches.size(), "PARQUET_VERSION v1");
        run.logCheckpoints(1, run.batches.size());
        publish();
    }

    /// Writes the log of runs anew, and its public key.
    void publish() throws IOException {
        log.publish();
        Files.createDirectories(data.resolve("keys"));
        Files.writeString(logKey(), log.key.verifier().encoded() + "\n");
    }

    Path logKey() {
        return data.resolve("keys/log.pub");
    }

    /// Writes the bundle with a fresh statement, whatever is in the data folder: its signer may be lying.
    Path writeTo(Path file) throws IOException, EvidenceException {
        BundleWriter.write(Recordings.unchecked(data), run.run, log.key, file);
        return file;
    }

    /// Signs a statement anew over the files of a bundle in a folder, and packs them.
    Path restated(Path folder, Path zip) throws IOException {
        Path statement = folder.resolve(BundleVerifier.STATEMENT);
        Files.delete(statement);
        var subjects = new TreeMap<String, Hash>();
        for (Path file : files(folder)) {
            subjects.put(folder.relativize(file).toString(), Hash.sha256(Files.readAllBytes(file)));
        }
        var words = Map.of("format", "bundle/v2", "run", run.run.value());
        byte[] payload = new InTotoStatement(subjects, InTotoStatement.BUNDLE_V1, words).toJson();
        Files.write(
                statement,
                DsseEnvelope.sign(InTotoStatement.PAYLOAD_TYPE, payload, List.of(log.key))
                        .toJson());
        try (var out = new ZipOutputStream(Files.newOutputStream(zip))) {
            for (Path file : files(folder)) {
                byte[] octets = Files.readAllBytes(file);
                var crc = new CRC32();
                crc.update(octets);
                var entry = new ZipEntry(folder.relativize(file).toString());
                entry.setMethod(ZipEntry.STORED);
                entry.setTimeLocal(LocalDateTime.of(1980, 2, 1, 0, 0));
                entry.setSize(octets.length);
                entry.setCrc(crc.getValue());
                out.putNextEntry(entry);
                out.write(octets);
            }
        }
        return zip;
    }

    private static List<Path> files(Path folder) throws IOException {
        try (var files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile)
                    .sorted(Comparator.comparing(file -> folder.relativize(file).toString()))
                    .toList();
        }
    }
}
