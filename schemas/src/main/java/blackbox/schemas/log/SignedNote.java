package blackbox.schemas.log;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A signed note (C2SP signed-note): text that ends in a newline, an empty line, and signature lines.
///
/// A note that parses is not yet a note that is believed: see [#signedBy].
public record SignedNote(String text, List<Signature> signatures) {

    private static final String LINE_START = "— ";
    private static final int SIGNATURES_MAX = 100;

    /// One signature line: the key's name and id, and the signature.
    public record Signature(String name, int keyId, byte[] octets) {}

    public SignedNote {
        signatures = List.copyOf(signatures);
        if (!text.endsWith("\n") || hasControl(text)) {
            throw new IllegalArgumentException("a note's text ends in a newline and has no other control characters");
        }
    }

    /// Signs `text` and returns the note as it is stored.
    public static String sign(String text, NoteSigner signer) {
        return sign(text, List.of(signer));
    }

    /// Signs `text` with each of `signers`, one line each in their order, and returns the note as it is stored.
    public static String sign(String text, List<? extends NoteSigner> signers) {
        byte[] octets = text.getBytes(StandardCharsets.UTF_8);
        var note = new StringBuilder(text).append('\n');
        for (NoteSigner signer : signers) {
            byte[] signature = signer.sign(octets);
            byte[] line = ByteBuffer.allocate(4 + signature.length)
                    .putInt(signer.verifier().keyId())
                    .put(signature)
                    .array();
            note.append(LINE_START).append(signer.verifier().name()).append(' ');
            note.append(Base64.getEncoder().encodeToString(line)).append('\n');
        }
        return note.toString();
    }

    /// Reads a note; null where it is malformed.
    public static @Nullable SignedNote parse(String note) {
        int split = note.lastIndexOf("\n\n");
        if (split < 0 || !note.endsWith("\n") || hasControl(note)) {
            return null;
        }
        var signatures = new ArrayList<Signature>();
        String[] lines = note.substring(split + 2).split("\n", -1);
        for (int i = 0; i < lines.length - 1; i++) {
            Signature signature = parseLine(lines[i]);
            if (signature == null || i >= SIGNATURES_MAX) {
                return null;
            }
            signatures.add(signature);
        }
        return signatures.isEmpty() ? null : new SignedNote(note.substring(0, split + 1), signatures);
    }

    private static @Nullable Signature parseLine(String line) {
        int space = line.lastIndexOf(' ');
        if (!line.startsWith(LINE_START) || space <= LINE_START.length()) {
            return null;
        }
        String name = line.substring(LINE_START.length(), space);
        try {
            byte[] octets = Base64.getDecoder().decode(line.substring(space + 1));
            boolean canonical = Base64.getEncoder().encodeToString(octets).equals(line.substring(space + 1));
            if (octets.length < 5 || name.indexOf(' ') >= 0 || name.indexOf('+') >= 0 || !canonical) {
                return null;
            }
            var signature = new byte[octets.length - 4];
            ByteBuffer buffer = ByteBuffer.wrap(octets);
            int keyId = buffer.getInt();
            buffer.get(signature);
            return new Signature(name, keyId, signature);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /// The first of `verifiers` whose signature is on the note, or null.
    ///
    /// A line that names one of them and does not verify makes the note unbelievable, whatever the other lines say.
    public @Nullable NoteVerifier signedBy(Collection<? extends NoteVerifier> verifiers) {
        byte[] octets = text.getBytes(StandardCharsets.UTF_8);
        NoteVerifier found = null;
        for (Signature signature : signatures) {
            for (NoteVerifier verifier : verifiers) {
                if (!verifier.name().equals(signature.name()) || verifier.keyId() != signature.keyId()) {
                    continue;
                }
                if (!verifier.verify(octets, signature.octets())) {
                    return null;
                }
                found = found == null ? verifier : found;
            }
        }
        return found;
    }

    private static boolean hasControl(String text) {
        return text.chars().anyMatch(c -> c < 0x20 && c != '\n');
    }
}
