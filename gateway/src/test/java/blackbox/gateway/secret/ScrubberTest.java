package blackbox.gateway.secret;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.Seeded;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/// What a server may do with a secret before it sends it back, and how that may be divided.
class ScrubberTest {
    private static final String SURROGATE = "sk-0123456789abcdef0123456789abcdef";

    private static Secrets secrets(String... values) {
        var all = new ArrayList<GuestSecret>();
        for (int each = 0; each < values.length; each++) {
            var octets = new SecretValue(values[each].getBytes(StandardCharsets.US_ASCII));
            String surrogate = "sk-" + "%032x".formatted(each + 0x1000);
            all.add(new GuestSecret("s" + each, surrogate, new SecretPlace.Credential(), List.of("r"), octets));
        }
        return Secrets.of(all, host -> true);
    }

    private static Secrets one(String value) {
        var octets = new SecretValue(value.getBytes(StandardCharsets.US_ASCII));
        return Secrets.of(
                List.of(new GuestSecret("s", SURROGATE, new SecretPlace.Credential(), List.of("r"), octets)),
                host -> true);
    }

    private static byte[] octets(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String text(ByteBuf octets) {
        String text = octets.toString(StandardCharsets.ISO_8859_1);
        octets.release();
        return text;
    }

    private static String whole(Secrets secrets, String text) {
        Scrubber scrubber = secrets.scrubber();
        return text(scrubber.scrub(Unpooled.copiedBuffer(octets(text)))) + text(scrubber.finish());
    }

    private static String inPieces(Secrets secrets, String text, RandomGenerator random) {
        Scrubber scrubber = secrets.scrubber();
        var out = new StringBuilder();
        int at = 0;
        while (at < text.length()) {
            int next = Math.min(text.length(), at + random.nextInt(1, 6));
            out.append(text(scrubber.scrub(Unpooled.copiedBuffer(octets(text.substring(at, next))))));
            at = next;
        }
        return out + text(scrubber.finish());
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(octets(text));
    }

    private static String base64Url(String text) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(octets(text));
    }

    private static String lines(String text, int length, String end) {
        return base64(text).replaceAll("(.{" + length + "})", "$1" + end.replace("\\", "\\\\"));
    }

    private static String each(String text, String format) {
        var out = new StringBuilder();
        text.chars().forEach(c -> out.append(format.formatted(c)));
        return out.toString();
    }

    private static String json(String text) {
        return text.replace("\\", "\\\\").replace("\"", "\\\"").replace("/", "\\/");
    }

    private static String utf16(String text, boolean little) {
        return new String(
                text.getBytes(little ? StandardCharsets.UTF_16LE : StandardCharsets.UTF_16BE),
                StandardCharsets.ISO_8859_1);
    }

    private static Map<String, UnaryOperator<String>> forms() {
        Map<String, UnaryOperator<String>> forms = new LinkedHashMap<>();
        forms.put("raw", text -> text);
        forms.put("hex", text -> HexFormat.of().formatHex(octets(text)));
        forms.put("HEX", text -> HexFormat.of().withUpperCase().formatHex(octets(text)));
        forms.put("base64", ScrubberTest::base64);
        forms.put("base64 after one", text -> base64("u" + text));
        forms.put("base64 after two", text -> base64("u:" + text));
        forms.put("base64 between", text -> base64("user:" + text + ", and more"));
        forms.put("base64 for URLs", ScrubberTest::base64Url);
        forms.put("base64 for URLs after one", text -> base64Url("?" + text + "~~~"));
        forms.put("base64 in a URL", text -> URLEncoder.encode(base64("u:" + text), StandardCharsets.US_ASCII));
        forms.put("base64 in JSON", text -> json(base64("~" + text)));
        forms.put("base64 in lines", text -> lines("user:" + text, 3, "\n"));
        forms.put("base64 in a mail", text -> lines(text, 19, "\r\n"));
        forms.put("base64 in lines in JSON", text -> lines(text, 16, "\\n"));
        forms.put("base64 in YAML", text -> lines("user:" + text, 8, "\n    "));
        forms.put("base64 in a field over lines", text -> lines(text, 8, "\r\n\t"));
        forms.put("base64 in YAML in JSON in a URL", text -> url(lines(text, 8, "\\n      ")));
        forms.put("base64 in lines in HTML", text -> lines(text, 8, "&#10;&#32;"));
        forms.put(
                "query",
                text -> URLEncoder.encode(text, StandardCharsets.US_ASCII).replace("+", "%20"));
        forms.put("form", text -> URLEncoder.encode(text, StandardCharsets.US_ASCII));
        forms.put("percent", text -> each(text, "%%%02x"));
        forms.put("PERCENT", text -> each(text, "%%%02X"));
        forms.put("percent twice", text -> each(text, "%%25%02x"));
        forms.put("percent four times", text -> each(text, "%%252525%02x"));
        forms.put("JSON", ScrubberTest::json);
        forms.put("JSON in JSON", text -> json(json(text)));
        forms.put("JSON, all escaped", text -> each(text, "\\u%04x"));
        forms.put("JSON in JSON, all escaped", text -> each(text, "\\\\u%04X"));
        forms.put("JavaScript", text -> each(text, "\\x%02x"));
        forms.put(
                "HTML",
                text -> text.replace("&", "&amp;")
                        .replace("<", "&lt;")
                        .replace(">", "&gt;")
                        .replace("\"", "&quot;")
                        .replace("'", "&#39;"));
        forms.put("HTML, by number", text -> each(text, "&#x%x;"));
        forms.put("UTF-16LE", text -> utf16(text, true));
        forms.put("UTF-16BE", text -> utf16(text, false));
        return forms;
    }

    /// Values that are awkward: for patterns, for quoting, in themselves.
    private static List<String> values() {
        return List.of(
                "sk-ant-api03-Zk9_QxVb7Lr2Pw5T",
                "8octets!",
                "a.*b+(c)[d]{2}|^$?\\Q\\E",
                "p%41ss%2525w%rd%",
                "quo\"te'd \\back/slash\\\\",
                "<&amp;'\">&#38;&lt;",
                "aaaaaaaaaaaaaaaaaaaa",
                "abababababac",
                "user:pass word/+==",
                "\\u0041\\u0042\\/x");
    }

    @Test
    void everyFormOfEveryValueIsFoundHoweverItIsDivided() {
        RandomGenerator random = Seeded.random("scrub");
        values().forEach(value -> forms().forEach((name, form) -> {
            Secrets secrets = one(value);
            String there = form.apply(value);
            for (String text : List.of(there, "{\"key\":\"" + there + "\"}\n", there + "\n" + there, there + there)) {
                String clean = whole(secrets, text);
                String what = name + " of " + value + " in " + text + " became " + clean;
                assertFalse(clean.contains(there), what);
                assertEquals(clean, whole(secrets, clean), what + ", and is found in it");
                for (int round = 0; round < 4; round++) {
                    assertEquals(clean, inPieces(secrets, text, random), what + " when it was whole");
                }
            }
        }));
    }

    private static String url(String text) {
        return URLEncoder.encode(text, StandardCharsets.US_ASCII).replace("+", "%20");
    }

    private static String html(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace("\"", "&quot;")
                .replace("'", "&#39;");
    }

    private static final String PLAIN = "as it is";

    private static final Map<String, UnaryOperator<String>> CODINGS = Map.of(
            PLAIN,
            text -> text,
            "UTF-16",
            text -> utf16(text, true),
            "hex",
            text -> HexFormat.of().formatHex(octets(text)),
            "HEX",
            text -> HexFormat.of().withUpperCase().formatHex(octets(text)),
            "base64",
            ScrubberTest::base64,
            "base64 after one",
            text -> base64("u" + text),
            "base64 between",
            text -> base64("u:" + text + ", and more"),
            "base64 for URLs",
            text -> base64Url(text + "~"),
            "base64 for URLs after one",
            text -> base64Url("?" + text),
            "base64 for URLs after two",
            text -> base64Url("?:" + text));

    private static final Map<String, UnaryOperator<String>> QUOTINGS = Map.of(
            "URL", ScrubberTest::url,
            "JSON", ScrubberTest::json,
            "HTML", ScrubberTest::html,
            "escapes", text -> each(text, "\\u%04x"));

    /// All of up to three, by what they are called.
    private static Map<String, UnaryOperator<String>> quotings() {
        Map<String, UnaryOperator<String>> all = new LinkedHashMap<>(Map.of("", text -> text));
        for (int depth = 0; depth < 3; depth++) {
            Map.copyOf(all)
                    .forEach((name, inner) -> QUOTINGS.forEach((outer, quoting) ->
                            all.put(name + " in " + outer, text -> quoting.apply(inner.apply(text)))));
        }
        return all;
    }

    /// Without what shares bits with its neighbours.
    private static String core(String wrapped) {
        return wrapped.substring(8, wrapped.length() - 16);
    }

    @Test
    void whatIsWrappedTwiceAndThenQuotedThriceIsFound() {
        Map<String, UnaryOperator<String>> quotings = quotings();
        assertEquals(85, quotings.size());
        Map<String, UnaryOperator<String>> inner = new LinkedHashMap<>(CODINGS);
        inner.put("percent", ScrubberTest::url);
        inner.put("JSON", ScrubberTest::json);
        for (String value : List.of("sk-ant-api03-Zk9/QxVb7+Lr2Pw5T=", "user \"x\": p%41ss\\&amp;<>word/+==")) {
            Secrets secrets = one(value);
            inner.forEach((innerName, wrap) -> CODINGS.forEach((outerName, outer) -> {
                if (outerName.equals(PLAIN) && !CODINGS.containsKey(innerName)) {
                    return; // quoted once more than thrice
                }
                String wrapped = outer.apply(wrap.apply(value));
                quotings.forEach((name, quoting) -> {
                    String what = value + " as " + innerName + " in " + outerName + name;
                    String text = "{\"it\":\"" + quoting.apply(wrapped) + "\"}\n";
                    assertTrue(text.contains(quoting.apply(core(wrapped))), what);
                    Scrubber scrubber = secrets.scrubber();
                    String clean = text(scrubber.scrub(Unpooled.copiedBuffer(octets(text)))) + text(scrubber.finish());
                    assertEquals(Map.of("s", 1L), scrubber.found(), () -> what + ": " + text);
                    assertFalse(clean.contains(quoting.apply(core(wrapped))), what);
                });
            }));
        }
    }

    private record Passed(String clean, long looks) {}

    private static Passed passed(Secrets secrets, String text, int piece) {
        Scrubber scrubber = secrets.scrubber();
        var out = new StringBuilder();
        for (int at = 0; at < text.length(); at += piece) {
            String next = text.substring(at, Math.min(text.length(), at + piece));
            out.append(text(scrubber.scrub(Unpooled.copiedBuffer(octets(next)))));
            assertTrue(at + next.length() - out.length() <= Following.SPAN_MAX + 4_096, "so much is held back");
        }
        long looks = scrubber.looks();
        return new Passed(out + text(scrubber.finish()), looks);
    }

    /// The longest value, octet by octet: nothing is looked at again because more has come.
    @Test
    void slowValuesCostAsMuchAsFastOnes() {
        RandomGenerator random = Seeded.random("slow");
        var value = new StringBuilder();
        for (int at = 0; at < SecretValue.OCTETS_MAX; at++) {
            value.append((char) random.nextInt('!', 0x7f));
        }
        Secrets secrets = one(value.toString());
        String there = value.substring(0, value.length() - 1); // but for the last octet, and then again
        for (String text : List.of(
                value.toString(),
                there.repeat(3),
                base64(base64(there)).repeat(3),
                lines(there, 19, "\r\n  ").repeat(3),
                each(there, "\\u%04x").repeat(2),
                url(json(there)).repeat(3))) {
            Passed whole = passed(secrets, text, text.length());
            Passed slow = passed(secrets, text, 1);
            assertEquals(whole.clean(), slow.clean());
            assertTrue(
                    slow.looks() <= 4 * whole.looks() + text.length(),
                    () -> slow.looks() + " instead of " + whole.looks() + " looks at " + text.length() + " octets");
        }
    }

    /// Texts that could be the beginnings of many quotations.
    @Test
    void whateverIsSentCostsSoMuchAnOctet() {
        Secrets secrets = one("sk-ant-api03-Zk9/QxVb7+Lr2Pw5T=\\%&");
        for (String part :
                List.of("%", "\\", "&", "%25", "&#", "&#x", "&amp;", "\\u005c", "%5C%5c", "\\x25", "A\n", "\\n ")) {
            String text = part.repeat(10_000);
            Passed whole = passed(secrets, text, text.length());
            Passed slow = passed(secrets, text, 1);
            assertEquals(whole.clean(), slow.clean());
            assertTrue(whole.looks() <= 150L * text.length(), () -> part + ": " + whole.looks());
            assertTrue(slow.looks() <= 600L * text.length(), () -> part + ": " + slow.looks() + " slowly");
        }
    }

    /// A form in which each octet takes 66: nobody sends that, and it would be held back as it came.
    @Test
    void whatIsTooLongIsNoOccurrence() {
        String value = "x".repeat(100) + "y".repeat(SecretValue.OCTETS_MAX - 100);
        Secrets secrets = one(value);
        String text = each(each(value, "&#x%07x;"), "\\u%04x");
        assertTrue(text.length() > Following.SPAN_MAX, "it is too long");
        assertEquals(text, passed(secrets, text, 1_000).clean());
        String shorter = each(value, "&#x%07x;");
        assertEquals(SURROGATE, passed(secrets, shorter, 1_000).clean());
    }

    @Test
    void whatStandsForItComesInTheSameForm() {
        Secrets secrets = one("A-Secret-Of-22-Octets!");
        String value = "A-Secret-Of-22-Octets!";
        assertEquals("key=" + SURROGATE + ".", whole(secrets, "key=" + value + "."));
        assertEquals(
                HexFormat.of().formatHex(octets(SURROGATE)),
                whole(secrets, HexFormat.of().formatHex(octets(value))));
        assertEquals(
                HexFormat.of().withUpperCase().formatHex(octets(SURROGATE)),
                whole(secrets, HexFormat.of().withUpperCase().formatHex(octets(value))));
        for (String before : List.of("", "u", "u:")) {
            String given = whole(secrets, base64(before + value + "|after it"));
            String decoded = new String(Base64.getDecoder().decode(given), StandardCharsets.ISO_8859_1);
            assertTrue(decoded.contains(SURROGATE.substring(1)), decoded);
            assertTrue(decoded.endsWith("after it"), decoded);
        }
        assertEquals(utf16(SURROGATE, true), whole(secrets, utf16(value, true)));
    }

    @Test
    void nothingElseIsTouchedOrHeldBack() {
        Secrets secrets = one("Zk9_QxVb7Lr2Pw5T");
        RandomGenerator random = Seeded.random("nothing");
        var noise = new StringBuilder();
        for (int at = 0; at < 20_000; at++) {
            noise.append((char) random.nextInt(256));
        }
        noise.append("Zk9_QxVb7Lr2Pw5 Zk9_QxVb7Lr2Pw5t %5a%6b%39 \\u005a\\u006b &#90; WkV5");
        assertEquals(noise.toString(), whole(secrets, noise.toString()));
        assertEquals(noise.toString(), inPieces(secrets, noise.toString(), random));
        Scrubber scrubber = secrets.scrubber();
        assertEquals("data: hello\n\n", text(scrubber.scrub(Unpooled.copiedBuffer(octets("data: hello\n\n")))));
        assertEquals("data: ", text(scrubber.scrub(Unpooled.copiedBuffer(octets("data: Zk9_")))));
        assertEquals("Zk9_!\n", text(scrubber.scrub(Unpooled.copiedBuffer(octets("!\n")))));
        assertEquals("data: W\n\n", text(scrubber.scrub(Unpooled.copiedBuffer(octets("data: W\n\n")))));
        assertEquals("100", text(scrubber.scrub(Unpooled.copiedBuffer(octets("100%")))));
        assertEquals("% of it", text(scrubber.scrub(Unpooled.copiedBuffer(octets(" of it")))));
        assertEquals("", text(scrubber.finish()));
        assertEquals(Map.of(), scrubber.found());
    }

    @Test
    void ofTwoThatBeginAlikeTheLongerOneIsFound() {
        Secrets secrets = secrets("sk-common-part", "sk-common-part-and-more");
        RandomGenerator random = Seeded.random("two");
        String shorter = "sk-" + "%032x".formatted(0x1000);
        String longer = "sk-" + "%032x".formatted(0x1001);
        String text = "sk-common-part-and-more sk-common-part sk-common-part-and-mor";
        String clean = longer + " " + shorter + " " + shorter + "-and-mor";
        assertEquals(clean, whole(secrets, text));
        for (int round = 0; round < 20; round++) {
            assertEquals(clean, inPieces(secrets, text, random));
        }
        Scrubber scrubber = secrets.scrubber();
        assertEquals("x", text(scrubber.scrub(Unpooled.copiedBuffer(octets("xsk-common-part")))));
        assertEquals(shorter, text(scrubber.finish()));
        assertEquals(Map.of("s0", 1L), scrubber.found());
    }

    @Test
    void closedSecretsAreCleared() {
        byte[] octets = octets("Zk9_QxVb7Lr2Pw5T");
        var value = new SecretValue(octets);
        Secrets secrets = Secrets.of(
                List.of(new GuestSecret("s", SURROGATE, new SecretPlace.Credential(), List.of("r"), value)),
                host -> true);
        secrets.close();
        assertEquals("\0".repeat(16), new String(octets, StandardCharsets.ISO_8859_1));
        assertEquals("Zk9_QxVb7Lr2Pw5T", whole(secrets, "Zk9_QxVb7Lr2Pw5T"));
    }
}
