package blackbox.bench.subject;

import blackbox.node.record.TransparencyLog;
import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.recorder.seal.EphemeralKeys;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.spool.Spool;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;

/// A closed run without a machine, with captured files of a given length, sealed, certified and encrypted as a
/// recorder does.
///
/// Three quarters of them are the log of a disk, which holds the JVM's own classes and programs; a quarter
/// are received frames, with octets that nothing compresses, for what agents download is compressed or
/// encrypted already.
///
/// @param plain a file with the octets of all captured files, one after the other
/// @param bytes of these
public record CapturedRun(DataFolder data, RunId run, Path plain, long bytes) {

    private static final int SEGMENT_BYTES = 4 << 20;
    private static final String NONE = Hash.sha256(new byte[0]).toString();
    private static final ObjectMapper JSON = new ObjectMapper();

    /// Writes a run with at least `bytes` octets of captured files into `folder/data`.
    public static CapturedRun write(Path folder, long bytes) throws Exception {
        var data = new DataFolder(folder.resolve("data"));
        var random = new SecureRandom();
        RunId run = RunId.create(Instant.now(), random);
        Path plain = folder.resolve("plain");
        long segments = Math.ceilDiv(bytes, SEGMENT_BYTES);
        blackbox.files.Folders.create(data.captures(run));
        try (TransparencyLog log = TransparencyLog.open(data);
                OutputStream all = Files.newOutputStream(plain)) {
            var keys = new EphemeralKeys(run, random);
            String certificate = log.log().certify(run, keys.first());
            var sealer = new RunSealer(run, keys, Spool.create(data.spool(), run), InstantSource.system());
            sealer.append(new Event.RunOpen(header(), Text.of("travel"), opening(certificate)));
            var noise = new Random(1);
            capture(sealer, CaptureName.FRAMES_IN.in(data.captures(run)), all, segments / 4, noise::nextBytes);
            try (var programs = new Repeated(Path.of(System.getProperty("java.home"), "lib", "modules"))) {
                capture(
                        sealer,
                        CaptureName.BLOCKS.in(data.captures(run)),
                        all,
                        segments - segments / 4,
                        programs::fill);
            }
            sealer.append(new Event.RunClose(header(), sealer.size(), 0, 0, null, null));
            var unused = log.log().append(List.of(sealer.seal().checkpoint()));
        }
        long encrypted = PayloadKeyFile.vault(data).encrypt(run, _ -> {});
        return new CapturedRun(data, run, plain, encrypted);
    }

    @FunctionalInterface
    private interface Content {
        void fill(byte[] octets) throws IOException;
    }

    private static void capture(RunSealer sealer, Path file, OutputStream all, long segments, Content content)
            throws Exception {
        var octets = new byte[SEGMENT_BYTES];
        try (OutputStream out = Files.newOutputStream(file)) {
            for (long at = 0; at < segments * SEGMENT_BYTES; at += SEGMENT_BYTES) {
                content.fill(octets);
                out.write(octets);
                all.write(octets);
                ObjectNode detail = JSON.createObjectNode()
                        .put("from", at)
                        .put("to", at + SEGMENT_BYTES)
                        .put("sha256", Hash.sha256(octets).toString());
                sealer.append(new Event.VmCapture(header(), String.valueOf(file.getFileName()), detail.toString()));
                if (sealer.isFull()) {
                    sealer.seal();
                }
            }
        }
    }

    /// A file's octets, again and again.
    private static final class Repeated implements AutoCloseable {
        private final Path file;
        private InputStream in;

        Repeated(Path file) throws IOException {
            this.file = file;
            this.in = Files.newInputStream(file);
        }

        void fill(byte[] octets) throws IOException {
            for (int done = in.readNBytes(octets, 0, octets.length); done < octets.length; ) {
                in.close();
                in = Files.newInputStream(file);
                int count = in.readNBytes(octets, done, octets.length - done);
                if (count == 0) {
                    throw new IOException(file + " is empty");
                }
                done += count;
            }
        }

        @Override
        public void close() throws IOException {
            in.close();
        }
    }

    private static EventHeader header() {
        return EventHeader.host(Instant.now().getEpochSecond() * 1_000_000_000L);
    }

    private static String opening(String certificate) {
        ObjectNode open = JSON.createObjectNode().put("tier", "live").putNull("snapshot");
        open.putObject("image").put("name", "default").put("digest", NONE);
        open.putObject("workspace").put("sha256", NONE).put("bytes", 0);
        open.putObject("recorder").put("version", "1").put("key", "bench").put("certificate", certificate);
        ObjectNode start = open.putObject("start").put("qemu", "QEMU");
        start.put("qemuSha256", NONE).putArray("argv").add("qemu");
        return open.toString();
    }
}
