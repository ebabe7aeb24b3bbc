package blackbox.vault.age;

import blackbox.vault.age.AgeException.Code;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The header of a file: how each recipient gets its key, and a code over all of it made with that key.
final class AgeHeader {

    /// A file's first line.
    static final String FIRST = "age-encryption.org/v1";

    private static final int COLUMNS = 64;
    private static final int STANZAS_MAX = 32;
    private static final int BYTES_MAX = 64 << 10;
    private static final String MAC = "---";

    private AgeHeader() {}

    static String base64(byte[] octets) {
        return Base64.getEncoder().withoutPadding().encodeToString(octets);
    }

    /// The octets of canonical base64 without padding, if it has that many; else null.
    static byte @Nullable [] octets(String text, int length) {
        byte[] octets = octets(text);
        return octets == null || octets.length != length ? null : octets;
    }

    private static byte @Nullable [] octets(String text) {
        try {
            byte[] octets = Base64.getDecoder().decode(text);
            return base64(octets).equals(text) ? octets : null;
        } catch (IllegalArgumentException _) {
            return null;
        }
    }

    /// The header as octets.
    static byte[] write(List<AgeStanza> stanzas, byte[] fileKey) {
        var text = new StringBuilder(FIRST).append('\n');
        for (AgeStanza stanza : stanzas) {
            text.append("-> ").append(String.join(" ", stanza.words())).append('\n');
            String body = base64(stanza.body());
            for (int at = 0; at <= body.length(); at += COLUMNS) {
                text.append(body, at, Math.min(at + COLUMNS, body.length())).append('\n');
            }
        }
        text.append(MAC);
        byte[] before = text.toString().getBytes(StandardCharsets.US_ASCII);
        text.append(' ').append(base64(mac(fileKey, before))).append('\n');
        return text.toString().getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] mac(byte[] fileKey, byte[] before) {
        return AgeCrypto.hmac(AgeCrypto.hkdf(fileKey, new byte[0], "header"), before);
    }

    /// Reads the header from `in`, to its last octet and no further, and returns the file's key.
    ///
    /// @throws AgeException `MALFORMED`, `WRONG_KEY`, `ALTERED`
    static byte[] read(InputStream in, AgeUnlock key) throws IOException {
        var read = new ByteArrayOutputStream();
        if (!FIRST.equals(line(in, read))) {
            throw new AgeException(Code.MALFORMED, "it is not encrypted in the form of age");
        }
        var stanzas = new ArrayList<AgeStanza>();
        String line = line(in, read);
        while (line.startsWith("-> ") && stanzas.size() < STANZAS_MAX) {
            List<String> words = List.of(line.substring(3).split(" ", -1));
            stanzas.add(new AgeStanza(words, body(in, read)));
            line = line(in, read);
        }
        byte[] mac = line.startsWith(MAC + " ") ? octets(line.substring(MAC.length() + 1), AgeCrypto.KEY_BYTES) : null;
        if (mac == null || stanzas.isEmpty()) {
            throw new AgeException(Code.MALFORMED, "its header does not end as that of age");
        }
        byte[] fileKey = unwrap(stanzas, key);
        byte[] before = Arrays.copyOf(read.toByteArray(), read.size() - (line.length() + 1) + MAC.length());
        if (!MessageDigest.isEqual(mac, mac(fileKey, before))) {
            throw new AgeException(Code.ALTERED, "its header was altered");
        }
        return fileKey;
    }

    private static byte[] body(InputStream in, ByteArrayOutputStream read) throws IOException {
        var text = new StringBuilder();
        String line;
        do {
            line = line(in, read);
            text.append(line);
        } while (line.length() == COLUMNS && text.length() <= AgeStanza.BODY_BYTES_MAX);
        byte[] octets = octets(text.toString());
        if (octets == null || line.length() >= COLUMNS) {
            throw new AgeException(Code.MALFORMED, "its header has a recipient that is none");
        }
        return octets;
    }

    private static String line(InputStream in, ByteArrayOutputStream read) throws IOException {
        int from = read.size();
        for (int octet = in.read(); octet != '\n'; octet = in.read()) {
            if (octet < ' ' || octet > '~' || read.size() >= BYTES_MAX) {
                throw new AgeException(
                        octet < 0 ? Code.CUT : Code.MALFORMED,
                        octet < 0 ? "it ends within its header" : "its header is not that of age");
            }
            read.write(octet);
        }
        read.write('\n');
        return new String(read.toByteArray(), from, read.size() - 1 - from, StandardCharsets.US_ASCII);
    }

    private static byte[] unwrap(List<AgeStanza> stanzas, AgeUnlock key) throws AgeException {
        boolean passphrase = stanzas.stream().anyMatch(each -> each.kind().equals(AgePassphrase.KIND));
        if (passphrase && stanzas.size() > 1) {
            throw new AgeException(Code.MALFORMED, "its header has a passphrase beside other recipients");
        }
        for (AgeStanza stanza : stanzas) {
            byte[] fileKey = key.unwrap(stanza);
            if (fileKey != null && fileKey.length == AgeCrypto.FILE_KEY_BYTES) {
                return fileKey;
            }
        }
        throw new AgeException(
                Code.WRONG_KEY,
                passphrase == key instanceof AgePassphrase
                        ? "what was given does not open it"
                        : passphrase
                                ? "it is encrypted with a passphrase, and an identity was given"
                                : "it is encrypted to a public key, and a passphrase was given");
    }
}
