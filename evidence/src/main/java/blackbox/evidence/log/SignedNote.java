package blackbox.evidence.log;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A signed note (C2SP signed-note): text that ends in a newline, an empty line, and signature lines.
///
/// A note that parses is not yet a note to be trusted: see [#signers].
public record SignedNote(String text, List<Signature> signatures) {

    private static final String LINE_START = "— ";
    private static final int SIGNATURES_MAX = 100;
    private static final int KEY_ID_LENGTH = 4;

    /// One signature line: the key's name and id, and the signature.
    public record Signature(String name, int keyId, byte[] octets) {

        public Signature {
            if (!isKeyName(name) || octets.length == 0) {
                throw new IllegalArgumentException("not a signature line: name '" + name + "'");
            }
        }

        /// The signature of `signer` over `text`.
        public static Signature of(NoteSigner signer, String text) {
            return new Signature(
                    signer.verifier().name(),
                    signer.verifier().keyId(),
                    signer.sign(text.getBytes(StandardCharsets.UTF_8)));
        }

        /// Reads one signature line, without its newline; null where it is malformed.
        public static @Nullable Signature parse(String line) {
            int space = line.lastIndexOf(' ');
            if (!line.startsWith(LINE_START) || space <= LINE_START.length()) {
                return null;
            }
            byte[] octets = base64(line.substring(space + 1));
            String name = line.substring(LINE_START.length(), space);
            if (octets == null || octets.length <= KEY_ID_LENGTH || !isKeyName(name)) {
                return null;
            }
            ByteBuffer buffer = ByteBuffer.wrap(octets);
            return new Signature(name, buffer.getInt(), Arrays.copyOfRange(octets, KEY_ID_LENGTH, octets.length));
        }

        /// The line as it appears in a note, with its newline.
        public String line() {
            byte[] value = ByteBuffer.allocate(KEY_ID_LENGTH + octets.length)
                    .putInt(keyId)
                    .put(octets)
                    .array();
            return LINE_START + name + " " + Base64.getEncoder().encodeToString(value) + "\n";
        }

        boolean isOf(String otherName, int otherId) {
            return keyId == otherId && name.equals(otherName);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Signature that && isOf(that.name, that.keyId) && Arrays.equals(octets, that.octets);
        }

        @Override
        public int hashCode() {
            return 31 * name.hashCode() + Arrays.hashCode(octets);
        }
    }

    public SignedNote {
        signatures = List.copyOf(signatures);
        if (!text.endsWith("\n") || !isWellFormed(text)) {
            throw new IllegalArgumentException("a note's text ends in a newline and has no other control characters");
        }
        if (signatures.isEmpty() || signatures.size() > SIGNATURES_MAX) {
            throw new IllegalArgumentException("a note has 1 to 100 signatures, not " + signatures.size());
        }
    }

    /// Signs `text` and returns the note as it is stored.
    public static String sign(String text, NoteSigner signer) {
        return sign(text, List.of(signer));
    }

    /// Signs `text` with each of `signers`, one line each in their order, and returns the note as it is
    /// stored.
    public static String sign(String text, List<? extends NoteSigner> signers) {
        List<Signature> lines =
                signers.stream().map(signer -> Signature.of(signer, text)).toList();
        return new SignedNote(text, lines).encoded();
    }

    /// This note with one more signature line at its end; a line of the same key is replaced.
    public SignedNote with(Signature added) {
        var lines = new ArrayList<Signature>();
        for (Signature line : signatures) {
            if (!line.isOf(added.name(), added.keyId())) {
                lines.add(line);
            }
        }
        lines.add(added);
        return new SignedNote(text, lines);
    }

    /// The note as it is stored.
    public String encoded() {
        var note = new StringBuilder(text).append('\n');
        signatures.forEach(signature -> note.append(signature.line()));
        return note.toString();
    }

    /// Reads a note's octets; null if they are malformed or not UTF-8.
    public static @Nullable SignedNote parse(byte[] octets) {
        try {
            return parse(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(octets))
                    .toString());
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    /// Reads a note; null where it is malformed.
    public static @Nullable SignedNote parse(String note) {
        int split = note.lastIndexOf("\n\n");
        if (split < 0 || !note.endsWith("\n") || !isWellFormed(note)) {
            return null;
        }
        var signatures = new ArrayList<Signature>();
        String[] lines = note.substring(split + 2).split("\n", SIGNATURES_MAX + 1);
        for (int i = 0; i < lines.length - 1; i++) {
            Signature signature = Signature.parse(lines[i]);
            if (signature == null) {
                return null;
            }
            signatures.add(signature);
        }
        boolean tooMany = !lines[lines.length - 1].isEmpty();
        return tooMany || signatures.isEmpty() ? null : new SignedNote(note.substring(0, split + 1), signatures);
    }

    /// Those of `verifiers` whose signatures are on the note, in the order of its lines, each once.
    ///
    /// Empty if none is, and if a line names one of them and does not verify: such a note must not be
    /// trusted, whatever its other lines say. Lines of unknown keys are ignored.
    public List<NoteVerifier> signers(Collection<? extends NoteVerifier> verifiers) {
        byte[] octets = text.getBytes(StandardCharsets.UTF_8);
        var found = new ArrayList<NoteVerifier>();
        for (Signature signature : signatures) {
            for (NoteVerifier verifier : verifiers) {
                if (!signature.isOf(verifier.name(), verifier.keyId())) {
                    continue;
                }
                if (!verifier.verify(octets, signature.octets())) {
                    return List.of();
                }
                if (!found.contains(verifier)) {
                    found.add(verifier);
                }
            }
        }
        return found;
    }

    /// The first of [#signers], or null.
    public @Nullable NoteVerifier signedBy(Collection<? extends NoteVerifier> verifiers) {
        List<NoteVerifier> signers = signers(verifiers);
        return signers.isEmpty() ? null : signers.getFirst();
    }

    /// Whether a key may have this name: not empty, no Unicode space, no plus sign, no control character.
    public static boolean isKeyName(String name) {
        return !name.isEmpty()
                && isWellFormed(name)
                && name.codePoints().noneMatch(c -> c == '+' || c == 0x85 || isSpace(c));
    }

    private static boolean isSpace(int c) {
        return Character.isWhitespace(c) || Character.isSpaceChar(c);
    }

    /// Whether it can be written as UTF-8 and has no control character but the newline.
    private static boolean isWellFormed(String text) {
        return text.codePoints().noneMatch(c -> c < 0x20 && c != '\n' || c >= 0xd800 && c < 0xe000);
    }

    /// Decodes base64 (RFC 4648, section 4) in canonical form only; null for anything else.
    static byte @Nullable [] base64(String text) {
        try {
            byte[] octets = Base64.getDecoder().decode(text);
            return Base64.getEncoder().encodeToString(octets).equals(text) ? octets : null;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
