package blackbox.evidence.proof;

import blackbox.evidence.TestLog;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.CosignatureKey;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/// Anchors a log of runs as it stands.
final class TestAnchors {

    private TestAnchors() {}

    /// Keeps the log's checkpoint with the witness's line as an anchor.
    static Path cosign(TestLog log, CosignatureKey witness, long epochSeconds) throws IOException {
        SignedNote note = SignedNote.parse(Files.readAllBytes(log.folder.resolve("checkpoint")));
        if (note == null) {
            throw new IllegalStateException("the log has no checkpoint");
        }
        var line = new SignedNote.Signature(
                witness.verifier().name(),
                witness.verifier().keyId(),
                witness.cosign(note.text().getBytes(StandardCharsets.UTF_8), epochSeconds));
        Path folder = Files.createDirectories(log.folder.resolve("anchors"));
        return Files.writeString(
                folder.resolve(log.entries.size() + ".note"), note.with(line).encoded());
    }
}
