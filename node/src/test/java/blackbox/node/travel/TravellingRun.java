package blackbox.node.travel;

import blackbox.evidence.sign.CryptoProvider;
import blackbox.node.data.StoredImage;
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
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

/// A run that never had a machine, sealed, certified and encrypted as a recorder does: with captured files, an image
/// and a workspace.
final class TravellingRun {

    /// What the agent printed, and nobody else is to read.
    static final String SECRET = "the-password-is-swordfish";

    static final String NONE = Hash.sha256(new byte[0]).toString();
    private static final ObjectMapper JSON = new ObjectMapper();

    final DataFolder data;
    final RunId run;
    final byte[] frames = new byte[150_000];

    TravellingRun(Path folder) throws Exception {
        this(folder, 7);
    }

    TravellingRun(Path folder, int seed) throws Exception {
        this(folder, RunId.create(Instant.now(), new Random(seed)));
    }

    TravellingRun(Path folder, RunId run) throws Exception {
        this.data = new DataFolder(folder);
        this.run = run;
        new Random(folder.hashCode()).nextBytes(frames);
        byte[] workspace = "an archive".getBytes(StandardCharsets.UTF_8);
        byte[] seed64 = new byte[64];
        Path captures = Files.createDirectories(data.captures(run));
        Files.write(captures.resolve("frames-in"), frames);
        Files.writeString(captures.resolve("stdin"), SECRET);
        Files.write(captures.resolve("workspace"), workspace);
        Files.writeString(captures.resolve("entropy"), HexFormat.of().formatHex(seed64) + "\n");
        Files.writeString(captures.resolve("console"), "");
        String digests = StoredImage.in(data.images());
        Files.writeString(captures.resolve("image.digests"), digests);
        try (TransparencyLog log = TransparencyLog.open(data)) {
            var keys = new EphemeralKeys(run, CryptoProvider.current().random());
            String certificate = log.log().certify(run, keys.first());
            var sealer = new RunSealer(run, keys, Spool.create(data.spool(), run), InstantSource.system());
            sealer.append(
                    new Event.RunOpen(header(), Text.of("first"), opening(certificate, digests, workspace, seed64)));
            seal(sealer, "frames-in", frames, 0, 100_000);
            seal(sealer, "frames-in", frames, 100_000, frames.length);
            byte[] secret = SECRET.getBytes(StandardCharsets.UTF_8);
            seal(sealer, "stdin", secret, 0, secret.length);
            sealer.seal();
            sealer.append(new Event.RunClose(header(), sealer.size(), 0, 0, null, null));
            var unused = log.log().append(List.of(sealer.seal().checkpoint()));
        }
        long encrypted = PayloadKeyFile.vault(data).encrypt(run, _ -> {});
        if (encrypted == 0 || Files.exists(CaptureName.STDIN.in(captures))) {
            throw new AssertionError("nothing was encrypted");
        }
    }

    private static EventHeader header() {
        Instant now = Instant.now();
        return EventHeader.host(now.getEpochSecond() * 1_000_000_000L + now.getNano());
    }

    private static void seal(RunSealer sealer, String name, byte[] octets, int from, int to) {
        Hash digest = Hash.sha256(Arrays.copyOfRange(octets, from, to));
        ObjectNode detail =
                JSON.createObjectNode().put("from", from).put("to", to).put("sha256", digest.toString());
        sealer.append(new Event.VmCapture(header(), name, detail.toString()));
    }

    private static String opening(String certificate, String digests, byte[] workspace, byte[] seed) {
        ObjectNode open = JSON.createObjectNode().put("tier", "exact").putNull("snapshot");
        open.putObject("image").put("name", "default").put("digest", digest(digests));
        open.putObject("workspace")
                .put("sha256", Hash.sha256(workspace).toString())
                .put("bytes", workspace.length);
        open.putObject("entropy").put("sha256", Hash.sha256(seed).toString());
        open.putObject("recorder").put("version", "1").put("key", "k").put("certificate", certificate);
        ObjectNode start = open.putObject("start").put("qemu", "QEMU 7");
        start.put("qemuSha256", NONE).putArray("argv").add("qemu");
        return open.toString();
    }

    private static String digest(String text) {
        return Hash.sha256(text.getBytes(StandardCharsets.UTF_8)).toString();
    }
}
