package blackbox.policy.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.policy.Hold;
import blackbox.policy.Policy;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// What is a policy and what is none (`schemas/policy.md`), and its canonical form.
class PolicyReaderTest {
    private static final String HEAD = "version: 1\n";

    static Policy read(String text) throws PolicyException {
        return PolicyReader.read(text.getBytes(StandardCharsets.UTF_8));
    }

    private static List<Problem> problems(String text) {
        return assertThrows(PolicyException.class, () -> read(text), text).problems();
    }

    private record Refused(String text, String place, String what) {
        String first() {
            return text.lines().skip(1).findFirst().orElse(text);
        }
    }

    private static Refused rule(String fields, int column, String what) {
        return new Refused(HEAD + "rules: [{id: a, " + fields + "}]\n", "2:" + (17 + column), what);
    }

    private static final List<Refused> REFUSED = List.of(
            new Refused("", "1:1", "there is no policy in the text"),
            new Refused("- a\n", "1:1", "a policy is a mapping of keys to values, not a list"),
            new Refused("mode: enforce\n", "1:1", "a policy needs the key 'version'; begin with version: 1"),
            new Refused("version: 2\n", "1:10", "reads version: 1, not '2'"),
            new Refused("version: \"1\"\n", "1:10", "reads version: 1, not a text"),
            new Refused("version: 1\nversion: 1\n", "2:1", "the key 'version' occurs twice"),
            new Refused("version: 1\nmode: off\n", "2:7", "it is enforce or observe"),
            new Refused("version: 1\nhold: all\n", "2:7", "it is connect; leave it out to hold nothing"),
            new Refused("version: 1\nruels: []\n", "2:1", "no key 'ruels'; its keys are version, mode, hold, rules"),
            new Refused("version: 1\nrules: []\n", "2:8", "rules is an empty list"),
            new Refused("version: 1\nrules: {id: a}\n", "2:8", "rules is a list, not a mapping"),
            new Refused("version: 1\nrules: [a]\n", "2:9", "a rule is a mapping of keys to values, not 'a'"),
            new Refused("version: 1\nrules: &x [a]\n", "2:8", "anchors (&NAME) are not used"),
            new Refused("version: 1\nrules: *x\n", "2:8", "aliases (*NAME) are not used"),
            new Refused("version: !!int 1\n", "1:10", "tags (tag:yaml.org,2002:int) are not used"),
            new Refused("version: 1\n---\nversion: 1\n", "2:1", "a policy is one document"),
            new Refused("version: 1\n? [a]\n: b\n", "2:3", "a key is a word"),
            new Refused("version: 1\nrules: [\n", "3:1", "this is no YAML"),
            new Refused("version: 1\nrules: \"\\q\"\n", "2:10", "this is no YAML"),
            new Refused("version: 1\n\trules: 1\n", "2:1", "this is no YAML"),
            new Refused("version: 1\n# only the API\r  more: 1\n", "2:15", "U+000D does not show"),
            new Refused("version: 1\n# only\u2028deny: []\n", "2:7", "U+2028 does not show"),
            new Refused("version: 1\n# \u202eonly\n", "2:3", "U+202E does not show"),
            new Refused(HEAD + "rules: " + "[".repeat(40), "2:23", "nested deeper than 16"),
            rule("host: 1.2.3.4", 6, "it is an address, not a name; write address: [\"1.2.3.4\"]"),
            rule("host: \"[::1]\"", 6, "it is an address, not a name"),
            rule("host: 0x7f000001", 6, "host is a text, not '0x7f000001'"),
            rule("host: \"0x7f.1\"", 6, "programs take it for an IPv4 address"),
            rule("host: \"*\"", 6, "a wildcard stands only for whole labels"),
            rule("host: \"**\"", 6, "a whole top-level domain or everything"),
            rule("host: \"*.com\"", 6, "a whole top-level domain or everything"),
            rule("host: \"**.com\"", 6, "a whole top-level domain or everything"),
            rule("host: \"a.*.com\"", 6, "a wildcard stands only for whole labels"),
            rule("host: \"a*.x.com\"", 6, "a wildcard stands only for whole labels"),
            rule("host: \"*x.y.com\"", 6, "a wildcard stands only for whole labels"),
            rule("host: \"***.x.com\"", 6, "a wildcard stands only for whole labels"),
            rule("host: a..b", 6, "an empty label"),
            rule("host: a b", 6, "a character that names do not have"),
            rule("host: \"a\\0b\"", 6, "without control characters"),
            rule("host: \"a\\ud800b\"", 6, "that do not show"),
            rule("host: \"a\\uffffb\"", 6, "that do not show"),
            rule("host: \"a\\U0000FEFFb\"", 6, "that do not show"),
            rule("host: \"a\\u202eb\"", 6, "that do not show"),
            rule("host: \"a\\U00110000b\"", 10, "this is no YAML: found unknown escape"),
            rule("host: \"a\\UFFFFFFFFb\"", -9, "(\\U) is no character"),
            rule("host: https://a.example", 6, "a character that names do not have"),
            rule("host: \"a.example:443\"", 6, "a character that names do not have"),
            rule("host: faß.example", 6, "write the name as xn--"),
            rule("host: " + "a".repeat(64) + ".example", 6, "a label of more than 63"),
            rule("host: " + "a.".repeat(130) + "example", 6, "longer than 253"),
            rule("host: [a.example]", 6, "host is a text, not a list"),
            rule("host: true", 6, "host is a text, not 'true'"),
            rule("host: ~", 6, "host is a text, not '~'"),
            rule("ports: [443]", -8, "add host, address or mcp"),
            rule("host: a.example, ports: [0]", 25, "ports are from 1 to 65535"),
            rule("host: a.example, ports: [65536]", 25, "ports are from 1 to 65535"),
            rule("host: a.example, ports: [9-8]", 25, "the first of a range first"),
            rule("host: a.example, ports: [-1]", 25, "neither a port nor a range"),
            rule("host: a.example, ports: [http]", 25, "neither a port nor a range"),
            rule("host: a.example, ports: 443", 24, "ports is a list, not '443'; put it into [ ]"),
            rule("host: a.example, ports: []", 24, "ports is an empty list"),
            rule("host: a.example, methods: [get]", 27, "written in capitals: GET"),
            rule("host: a.example, methods: [TRACE]", 27, "refused whatever a policy says"),
            rule("host: a.example, methods: [CONNECT]", 27, "refused whatever a policy says"),
            rule("host: a.example, paths: [a]", 25, "it does not begin with /"),
            rule("host: a.example, paths: [/a/../b]", 25, "it has a dot segment"),
            rule("host: a.example, paths: [/a//b]", 25, "an empty segment"),
            rule("host: a.example, paths: [/a%2eb]", 25, "an encoded dot"),
            rule("host: a.example, paths: [\"/a?b\"]", 25, "it has a query"),
            rule("host: a.example, paths: [/a**]", 25, "** is only ever a whole segment"),
            rule("host: a.example, paths: [/@a%2fb]", 25, "add encodedSlash: true"),
            rule("host: a.example, encodedSlash: true", 31, "add paths, or leave it out"),
            rule("host: a.example, paths: [/a], encodedSlash: yes", 44, "encodedSlash is true or false, not 'yes'"),
            rule("address: [a.example]", 10, "it is no IP address"),
            rule("address: [10.0.0.1/8]", 10, "it has bits after its prefix of 8"),
            rule("address: [10.0.0.0/33]", 10, "its prefix is 0 to 32 bits long"),
            rule("address: [10.0.0.0/a]", 10, "it has no prefix length after /"),
            rule("address: [\"::ffff:10.0.0.0/104\"]", 10, "it has no prefix length after /"),
            rule("address: [0.0.0.0/0]", 10, "wider than /8"),
            rule("address: [\"2000::/3\"]", 10, "wider than /8"),
            rule("address: [127.0.0.1]", 10, "give a host and upstream: HOST:PORT"),
            rule("address: [169.254.169.254]", 10, "machines' credentials, which no rule opens"),
            rule("address: [010.0.0.1]", 10, "it is no IP address"),
            rule("host: a.example, upstream: localhost", 27, "write HOST:PORT"),
            rule("host: a.example, upstream: \"::1:80\"", 27, "in brackets"),
            rule("host: a.example, upstream: \"169.254.169.254:80\"", 27, "which nothing opens"),
            rule("host: a.example, address: [10.0.0.1], upstream: \"b.example:1\"", 48, "leave one out"),
            rule("address: [10.0.0.1], upstream: \"b.example:1\"", 31, "leave one out"),
            rule("host: a.example, process: {exe: git}", 32, "the absolute path of a program"),
            rule("host: a.example, process: {exe: /usr/../git}", 32, "the absolute path of a program"),
            rule("host: a.example, process: {exe: /a, pid: 1}", 36, "process has no key 'pid'; its keys are exe"),
            rule("host: a.example, process: /usr/bin/git", 26, "process is a mapping"),
            rule("host: a.example, budget: {}", 25, "a budget limits something"),
            rule("host: a.example, budget: {requests: 0}", 36, "more than 0; to allow nothing, leave out the rule"),
            rule("host: a.example, budget: {requests: 1.5}", 36, "write it as 500, 20k or 3M"),
            rule("host: a.example, budget: {bytesIn: 5MiBs}", 35, "write it as 1048576, 200MB or 1GiB"),
            rule("host: a.example, budget: {usd: 1.0000001}", 31, "at most six decimals"),
            rule("host: a.example, budget: {usd: -1}", 31, "at most six decimals"),
            rule("host: a.example, budget: {tokens: 9007199254740992}", 34, "at most 2^53-1"),
            rule("host: a.example, budget: {bytesIn: 999999999999999999TiB}", 35, "at most 2^53-1"),
            rule("mcp: {url: \"https://a.example/\"}, budget: {tokens: 1}", -8, "mcp is no model; leave them out"),
            rule("mcp: {tools: [a]}", 5, "mcp needs the key 'url'"),
            rule("mcp: {url: \"ftp://a.example/\"}", 11, "write https://NAME/PATH"),
            rule("mcp: {url: \"https://u@a.example/\"}", 11, "write https://NAME/PATH"),
            rule("mcp: {url: \"https://a.example/\"}, host: a.example", 40, "leave out host"),
            rule("host: a.example, id2: b", 17, "a rule has no key 'id2'"),
            new Refused(HEAD + "rules: [{host: a.example}]\n", "2:9", "a rule needs the key 'id'"),
            new Refused(HEAD + "rules: [{id: default, host: a.example}]\n", "2:14", "choose another id"),
            new Refused(HEAD + "rules: [{id: \"a b\", host: a.example}]\n", "2:14", "an id has 1 to 64"),
            new Refused(
                    HEAD + "rules: [{id: a, host: a.example},\n  {id: a, host: b.example}]\n",
                    "3:3",
                    "the id 'a' is that of the rule at 2:9"),
            new Refused(
                    HEAD + "rules: [{id: a, host: a.example},\n  {id: b, host: A.example., ports: [443]}]\n",
                    "3:3",
                    "the same traffic as 'a'"),
            new Refused(
                    HEAD + "rules: [{id: a, host: a.b.example}]\ndeny: [{host: \"*.b.example\"}]\n",
                    "2:9",
                    "allows nothing: deny[0] refuses all of it"),
            new Refused(
                    HEAD + "deny: [{host: a.example, process: {exe: /a}}]\n", "2:26", "lie its way out of a denial"),
            new Refused(HEAD + "deny: [{host: a.example, id: b}]\n", "2:26", "named by their place"),
            new Refused(HEAD + "deny: [{host: a.example, secret: b}]\n", "2:26", "no key 'secret'"),
            new Refused(
                    HEAD + "rules: [{id: a, host: \"*.a.example\", paths: [/x]}]\ntls: {pass: [p.a.example]}\n",
                    "2:9",
                    "tls.pass has p.a.example, whose TLS is not opened"),
            new Refused(
                    HEAD + "rules: [{id: a, host: p.example, secret: s}]\ntls: {pass: [p.example]}\n",
                    "2:9",
                    "needs to see requests to p.example"),
            new Refused(
                    HEAD + "deny: [{host: p.example, methods: [PUT]}]\ntls: {pass: [p.example]}\n",
                    "2:8",
                    "deny[0] needs to see requests"),
            new Refused(HEAD + "tls: {pass: [\"*.com\"]}\n", "2:14", "leaves a whole top-level domain"),
            new Refused(HEAD + "tls: {}\n", "2:6", "tls needs the key 'pass'"),
            new Refused(HEAD + "prices: [{model: m, input: 1}]\n", "2:10", "a price needs the key 'output'"),
            new Refused(HEAD + "prices: [{model: m, input: x, output: 1}]\n", "2:28", "write dollars with at most six"),
            new Refused(
                    HEAD + "prices: [{model: m, input: 1, output: 1},\n  {model: m, input: 2, output: 2}]\n",
                    "3:3",
                    "'m' has a price already"),
            new Refused(HEAD + "dns: [{host: a.example, types: [A]}]\n", "2:33", "types are MX, SRV, TXT"),
            new Refused(HEAD + "dns: [{host: \"**\", types: [TXT]}]\n", "2:14", "under a whole top-level domain"),
            new Refused(HEAD + "secrets: [{id: s, env: A}]\n", "2:11", "no rule uses the secret 's'"),
            new Refused(HEAD + "secrets: [{id: s, value: hush}]\n", "2:19", "never part of a policy"),
            new Refused(HEAD + "secrets: [{id: s, env: A, file: b}]\n", "2:11", "one source"),
            new Refused(HEAD + "secrets: [{id: s, place: \"body:/a~b\"}]\n", "2:26", "header:NAME, basic"),
            new Refused(HEAD + "secrets: [{id: s, place: \"body:a\"}]\n", "2:26", "header:NAME, basic"),
            new Refused(HEAD + "deny: [" + "{host: a.example},".repeat(4097) + "]\n", "2:7", "more than 4096 items"),
            new Refused(HEAD + "secrets: [{id: s, place: cookie}]\n", "2:26", "header:NAME, basic"),
            new Refused(
                    HEAD + "rules: [{id: a, host: a.example, secret: t}]\nsecrets: [{id: s, env: A}]\n",
                    "2:9",
                    "the secret 't', which is not declared"));

    @TestFactory
    Stream<DynamicTest> whatIsNoPolicyIsRefusedAtItsPlaceWithAReason() {
        return REFUSED.stream()
                .map(each -> DynamicTest.dynamicTest(each.what() + ": " + each.first(), () -> {
                    Problem first = problems(each.text()).getFirst();
                    assertTrue(first.what().contains(each.what()), first::toString);
                    assertEquals(each.place(), first.place().toString(), first::toString);
                }));
    }

    @Test
    void allThatIsWrongIsSaidAtOnceInOrder() {
        List<Problem> problems =
                problems(HEAD + "mode: maybe\nrules:\n  - id: a\n    host: \"*.com\"\n    ports: [0, 99999]\n"
                        + "  - {host: b.example, speed: 3}\nnames: []\n");
        assertEquals(
                List.of("2:7", "5:11", "6:13", "6:16", "7:5", "7:23", "8:1"),
                problems.stream().map(each -> each.place().toString()).toList());
    }

    @Test
    void whatIsNotUtf8OrTooLongIsRefused() {
        byte[] broken = {'a', (byte) 0xff};
        var notText = assertThrows(PolicyException.class, () -> PolicyReader.read(broken));
        assertEquals("the text is not UTF-8", notText.problems().getFirst().what());
        byte[] longer = (HEAD + "#" + "x".repeat(PolicyReader.OCTETS_MAX)).getBytes(StandardCharsets.UTF_8);
        var tooLong = assertThrows(PolicyException.class, () -> PolicyReader.read(longer));
        assertEquals(
                "the text is longer than 1048576 octets",
                tooLong.problems().getFirst().what());
    }

    /// What only looks different has the same canonical form.
    @TestFactory
    Stream<DynamicTest> whatMeansTheSameHasTheSameDigest() {
        return Map.of(
                        "host: API.Example.COM.", "host: api.example.com",
                        "host: bücher.example", "host: \"xn--bcher-kva.example\"",
                        "host: a.example, ports: [\"81-90\", 80, 443, 85]",
                                "ports: [443, \"80-90\"], host: 'a.example'",
                        "host: a.example, methods: [PUT, GET, PUT]", "host: a.example, methods: [GET, PUT]",
                        "host: a.example, paths: [/b, /%61]", "host: a.example, paths: [/a, /b]",
                        "host: a.example, ports: [443]", "host: a.example # and a comment\n  ",
                        "address: [\"::ffff:10.1.2.3\", \"FD00::0\"], ports: [1]",
                                "address: [\"fd00::\", 10.1.2.3], ports: [1]",
                        "host: a.example, budget: {bytesIn: 2MB, usd: 1.50, seconds: 2m, tokens: 3k}",
                                "host: a.example, budget: {usd: \"1.5\", bytesIn: 2000000, tokens: 3000, seconds: 120}",
                        "mcp: {url: \"https://M.example:443\", tools: [b, a]}",
                                "mcp: {url: \"https://m.example/\", tools: [a, b]}")
                .entrySet()
                .stream()
                .map(pair -> DynamicTest.dynamicTest(pair.getKey(), () -> {
                    String one = HEAD + "rules: [{id: a, " + pair.getKey() + "}]\n";
                    String other = "mode: enforce\nrules:\n- {" + pair.getValue() + ", id: a}\n" + HEAD;
                    assertEquals(CanonicalPolicy.text(read(one)), CanonicalPolicy.text(read(other)));
                }));
    }

    @Test
    void whatIsHeldIsPartOfTheCanonicalForm() throws Exception {
        Policy holds = read(HEAD + "hold: connect\n");
        assertEquals(Hold.CONNECT, holds.hold());
        assertEquals("{\"hold\":\"connect\",\"mode\":\"enforce\",\"version\":1}", CanonicalPolicy.text(holds));
        assertEquals(holds, PolicyReader.readCanonical(CanonicalPolicy.octets(holds)));
        assertEquals("{\"mode\":\"enforce\",\"version\":1}", CanonicalPolicy.text(read(HEAD)));
    }

    @Test
    void whatMeansSomethingElseHasAnotherDigest() throws Exception {
        List<String> all = List.of(
                "host: a.example",
                "host: \"*.a.example\"",
                "host: \"**.a.example\"",
                "host: a.example, ports: [80]",
                "host: a.example, methods: [GET]",
                "host: a.example, paths: [/a]",
                "host: a.example, paths: [/a/]",
                "host: a.example, paths: [/a], encodedSlash: true",
                "host: a.example, process: {exe: /a}",
                "host: a.example, budget: {usd: 1}",
                "host: a.example}]\nprices: [{model: m, input: 1, output: 2",
                "host: a.example}]\nprices: [{model: m, input: 1, output: 2, cached: 1",
                "host: a.example}]\nprices: [{model: m, input: 1, output: 2, cacheWrite: 1",
                "host: a.example, budget: {tokens: 1}",
                "host: a.example, upstream: \"b.example:1\"",
                "host: a.example, secret: s",
                "host: a.example, address: [10.0.0.0/8]",
                "mcp: {url: \"https://a.example/\"}",
                "mcp: {url: \"https://a.example/\", tools: [a]}");
        var digests = new TreeSet<String>();
        for (String each : all) {
            digests.add(CanonicalPolicy.digest(read(HEAD + "rules: [{id: a, " + each + "}]\n")));
        }
        assertEquals(all.size(), digests.size());
    }

    /// The example of `schemas/policy.md` and its canonical form, octet for octet.
    @Test
    void theGoldenPolicyIsReadAndWrittenAsEver() throws Exception {
        byte[] canonical = golden("policy.json");
        Policy policy = PolicyReader.read(golden("policy.yaml"));
        assertEquals(new String(canonical, StandardCharsets.UTF_8), CanonicalPolicy.text(policy));
        assertEquals(policy, PolicyReader.readCanonical(canonical));
        assertEquals(
                new String(golden("policy.sha256"), StandardCharsets.US_ASCII).strip(), CanonicalPolicy.digest(policy));
        String page = Files.readString(Path.of("..", "schemas", "policy.md"));
        assertTrue(
                page.contains(new String(golden("policy.yaml"), StandardCharsets.UTF_8).strip()), "the page's example");
        assertTrue(page.contains(CanonicalPolicy.digest(policy)), "the page's digest");
    }

    private static byte[] golden(String name) throws IOException {
        var octets = new ByteArrayOutputStream();
        try (var in = PolicyReaderTest.class.getResourceAsStream("/policy/v1/" + name)) {
            Objects.requireNonNull(in, name).transferTo(octets);
        }
        return octets.toByteArray();
    }

    @Test
    void onlyTheCanonicalFormIsReadAsSuch() throws Exception {
        Policy policy = read(HEAD + "rules: [{id: a, host: a.example}]\n");
        String text = CanonicalPolicy.text(policy);
        assertEquals(policy, PolicyReader.readCanonical(text.getBytes(StandardCharsets.UTF_8)));
        for (String other : List.of(text + "\n", " " + text, text.replace("[443]", "[443 ]"), HEAD)) {
            assertThrows(
                    PolicyException.class,
                    () -> PolicyReader.readCanonical(other.getBytes(StandardCharsets.UTF_8)),
                    other);
        }
    }
}
