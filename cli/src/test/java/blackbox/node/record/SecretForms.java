package blackbox.node.record;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/// The forms in which a credential is looked for: as it is, in hexadecimal, URLs, JSON, UTF-16 and base64.
final class SecretForms {

    private SecretForms() {}

    /// @param name what the credential is called
    /// @return by what the form is called
    static Map<String, byte[]> of(String name, String secret) {
        var forms = new LinkedHashMap<String, byte[]>();
        String hex = HexFormat.of().formatHex(bytes(secret));
        forms.put(name, bytes(secret));
        forms.put(name + " in hex", bytes(hex));
        forms.put(name + " in HEX", bytes(hex.toUpperCase(Locale.ROOT)));
        forms.put(name + " in a URL", bytes(SecretUpstream.url(secret)));
        forms.put(name + " in JSON", bytes(secret.replace("/", "\\/")));
        byte[] wide = secret.getBytes(StandardCharsets.UTF_16LE);
        forms.put(name + " in UTF-16", Arrays.copyOf(wide, wide.length - 1)); // as it is in either order
        for (int before = 0; before < 3; before++) {
            String own = base64(secret, before);
            forms.put(name + " in base64 after " + before, bytes(own));
            forms.put(
                    name + " in base64 for URLs after " + before,
                    bytes(own.replace('+', '-').replace('/', '_')));
            forms.put(name + " in base64 of base64 after " + before, bytes(base64(own, before)));
        }
        return forms;
    }

    /// What of the text's base64 has bits of nothing else.
    private static String base64(String text, int before) {
        String encoded = Base64.getEncoder().withoutPadding().encodeToString(bytes("x".repeat(before) + text));
        return encoded.substring((before * 8 + 5) / 6, (before + text.length()) * 8 / 6);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
