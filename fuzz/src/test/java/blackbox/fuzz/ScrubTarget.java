package blackbox.fuzz;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.gateway.secret.GuestSecret;
import blackbox.gateway.secret.Scrubber;
import blackbox.gateway.secret.SecretPlace;
import blackbox.gateway.secret.SecretValue;
import blackbox.gateway.secret.Secrets;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Answers of a server that knows a secret. However they are divided, the guest is sent the same, no form of the value
/// is in it, and what has none is as it was.
///
/// An input's first octet chooses the value, its second the length of pieces; of the others, those from 0x80 on stand
/// for forms of the value, whole or their first halves. (If all but a digit of it were there, the first of a surrogate
/// could be that digit.)
final class ScrubTarget {
    private static final List<String> VALUES = List.of(
            "sk-ant-api03-Zk9/QxVb7+Lr2Pw5T=", "p%41ss%2525w%rd", "aaaaaaaaaaaaa", "\\u0041\\/\"<&amp;'", "abababac");
    private static final String SURROGATE = "sk-0123456789abcdef0123456789abcdef";
    private static final int FORM = 0x80;
    private static final int CUT = 0x40;

    static final FuzzTarget TARGET = FuzzTarget.of("gateway-scrub", 1 << 10, ScrubTarget::scrubbed, ScrubTarget::seeds);

    private ScrubTarget() {}

    private static Secrets secrets(String value) {
        return Secrets.of(
                List.of(new GuestSecret(
                        "s", SURROGATE, new SecretPlace.Credential(), List.of("r"), new SecretValue(octets(value)))),
                host -> true);
    }

    private static byte[] octets(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String base64(String text) {
        return Base64.getEncoder().withoutPadding().encodeToString(octets(text));
    }

    private static String each(String text, String format) {
        var out = new StringBuilder();
        text.chars().forEach(c -> out.append(format.formatted(c)));
        return out.toString();
    }

    /// As others write it, so far as it is the value's alone.
    private static List<String> forms(String value) {
        var forms = new ArrayList<>(List.of(
                value,
                HexFormat.of().formatHex(octets(value)),
                HexFormat.of().withUpperCase().formatHex(octets(value)),
                URLEncoder.encode(value, StandardCharsets.US_ASCII),
                each(value, "%%%02x"),
                each(value, "%%25%02X"),
                each(value, "\\u%04x"),
                each(value, "\\\\u%04X"),
                each(value, "&#%d;"),
                value.replace("\\", "\\\\").replace("\"", "\\\"").replace("/", "\\/")));
        for (int before = 0; before < 3; before++) {
            String own = own(value, before);
            forms.addAll(List.of(own, own.replace('+', '-').replace('/', '_')));
        }
        // Wrapped and quoted again.
        String json = each(value, "\\u%04x");
        forms.addAll(List.of(
                own(own(value, 0), 0),
                own(own(value, 1), 2),
                HexFormat.of().formatHex(octets(own(value, 0))),
                URLEncoder.encode(json, StandardCharsets.US_ASCII),
                each(json, "&#%d;"),
                own(value, 0).replace("", "\n    ").strip()));
        return forms;
    }

    private static String own(String value, int before) {
        String encoded = base64("x".repeat(before) + value);
        return encoded.substring((before * 8 + 5) / 6, (before + value.length()) * 8 / 6);
    }

    private static byte[] text(byte[] input, List<String> forms) {
        var text = new ByteArrayOutputStream();
        for (int at = 2; at < input.length; at++) {
            int octet = input[at] & 0xff;
            if (octet < FORM) {
                text.write(octet);
                continue;
            }
            String form = forms.get(octet % CUT % forms.size());
            text.writeBytes(octets((octet & CUT) == 0 ? form : form.substring(0, form.length() / 2)));
        }
        return text.toByteArray();
    }

    private record Passed(byte[] octets, long found) {}

    private static Passed pass(Secrets secrets, byte[] text, int piece) {
        Scrubber scrubber = secrets.scrubber();
        var out = new ByteArrayOutputStream();
        for (int at = 0; at < text.length; at += piece) {
            add(out, scrubber.scrub(Unpooled.copiedBuffer(text, at, Math.min(piece, text.length - at))));
        }
        add(out, scrubber.finish());
        return new Passed(
                out.toByteArray(),
                scrubber.found().values().stream().mapToLong(Long::longValue).sum());
    }

    private static void add(ByteArrayOutputStream out, ByteBuf octets) {
        var copy = new byte[octets.readableBytes()];
        octets.readBytes(copy).release();
        out.writeBytes(copy);
    }

    private static boolean scrubbed(byte[] input) {
        if (input.length < 3) {
            return false;
        }
        String value = VALUES.get((input[0] & 0xff) % VALUES.size());
        List<String> forms = forms(value);
        Secrets secrets = secrets(value);
        byte[] text = text(input, forms);
        Passed whole = pass(secrets, text, Math.max(1, text.length));
        Passed pieces = pass(secrets, text, 1 + (input[1] & 0x3f));
        ensure(Arrays.equals(whole.octets, pieces.octets), "it depends on how the octets came");
        ensure(whole.found == pieces.found, "how often it was found depends on how the octets came");
        ensure(whole.found > 0 || Arrays.equals(text, whole.octets), "nothing was found, and something changed");
        String sent = new String(whole.octets, StandardCharsets.ISO_8859_1);
        for (String form : forms) {
            ensure(!sent.contains(form), "the guest is sent " + form);
        }
        ensure(pass(secrets, whole.octets, 7).found == 0, "the guest is sent what would be found");
        return true;
    }

    private static Map<String, byte[]> seeds() {
        Map<String, byte[]> seeds = new LinkedHashMap<>();
        for (int value = 0; value < VALUES.size(); value++) {
            var input = new ByteArrayOutputStream();
            input.writeBytes(new byte[] {(byte) value, 3});
            for (int form = 0; form < 16; form++) {
                input.writeBytes(octets("{\"k\":\""));
                input.write(FORM + form);
                input.writeBytes(octets("%25\\\\&#"));
                input.write(FORM + CUT + form);
            }
            seeds.put("forms of " + value, input.toByteArray());
        }
        return seeds;
    }
}
