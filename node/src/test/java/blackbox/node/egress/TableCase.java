package blackbox.node.egress;

import blackbox.schemas.net.IpAddress;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/// One case of the table. `README.md` beside the table says what its keys mean.
record TableCase(String group, Map<String, Object> keys) {
    private static final String FOLDER = "/blackbox/node/egress/table/";
    private static final Set<String> KNOWN = Set.of(
            "id",
            "policy",
            "tls",
            "tcp",
            "dns",
            "resolver",
            "udp",
            "frames",
            "hex",
            "over",
            "port",
            "sni",
            "alpn",
            "send",
            "then",
            "pieces",
            "finish",
            "answers",
            "greets",
            "names",
            "hears",
            "outside",
            "record");

    /// `{3*a}` is `aaa`.
    private static final Pattern REPEATED = Pattern.compile("\\{([0-9]+)\\*([^}]*)\\}");

    /// What names resolve to, unless a case says otherwise.
    private static final Map<String, List<List<String>>> NAMES = names(load("names"));

    TableCase {
        var unknown = new HashSet<>(keys.keySet());
        unknown.removeAll(KNOWN);
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException(group + ", " + keys.get("id") + " has unknown keys: " + unknown);
        }
    }

    static List<TableCase> read(String group) {
        var cases = new ArrayList<TableCase>();
        for (Object each : (List<?>) load(group)) {
            cases.add(new TableCase(group, map(each)));
        }
        return cases;
    }

    private static Object load(String file) {
        try (InputStream in = resource(file)) {
            return new Load(LoadSettings.builder().setLabel(file).build()).loadFromInputStream(in);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static InputStream resource(String file) {
        return Objects.requireNonNull(TableCase.class.getResourceAsStream(FOLDER + file + ".yaml"), file);
    }

    private static Map<String, Object> map(Object value) {
        var map = new HashMap<String, Object>();
        ((Map<?, ?>) value).forEach((key, each) -> map.put(String.valueOf(key), Objects.requireNonNull(each)));
        return map;
    }

    private static Map<String, List<List<String>>> names(Object value) {
        var names = new HashMap<String, List<List<String>>>();
        map(value)
                .forEach((name, answers) -> names.put(
                        name,
                        ((List<?>) answers)
                                .stream()
                                        .map(each -> Arrays.asList(
                                                String.valueOf(each).split(" ")))
                                        .toList()));
        return names;
    }

    String id() {
        return Objects.requireNonNull(text("id"), "a case without id");
    }

    @Nullable
    String text(String key) {
        Object value = keys.get(key);
        return value == null ? null : String.valueOf(value);
    }

    private String text(String key, String otherwise) {
        String value = text(key);
        return value == null ? otherwise : value;
    }

    List<String> texts(String key) {
        Object value = keys.get(key);
        return value == null
                ? List.of()
                : value instanceof List<?> list
                        ? list.stream().map(String::valueOf).toList()
                        : List.of(String.valueOf(value));
    }

    int number(String key, int otherwise) {
        String value = text(key);
        return value == null ? otherwise : Integer.parseInt(value);
    }

    byte[] policy() throws IOException {
        try (InputStream in = resource("policies/" + text("policy", "agent"))) {
            return in.readAllBytes();
        }
    }

    Map<String, List<List<String>>> names() {
        var all = new HashMap<>(NAMES);
        Object own = keys.get("names");
        if (own != null) {
            all.putAll(names(own));
        }
        return all;
    }

    OutsideServer server() {
        return new OutsideServer(text("greets", ""), texts("answers"));
    }

    boolean isTls() {
        return keys.containsKey("tls");
    }

    /// Whom it connects to; null if it does not.
    @Nullable
    String host() {
        String host = text("tls");
        return host == null ? text("tcp") : host;
    }

    int port() {
        return number("port", isTls() ? 443 : 80);
    }

    /// The octets of a request: as they stand, with `|` for the end of a line, or from `METHOD TARGET|FIELDS`.
    byte[] octets(String written) {
        String said = REPEATED.matcher(written)
                .replaceAll(found -> Matcher.quoteReplacement(found.group(2).repeat(Integer.parseInt(found.group(1)))));
        String host = host();
        boolean isShort = said.matches("(?s)[A-Za-z]+ (?!.*HTTP/).*") && !said.endsWith("|");
        if (!isShort) {
            return Outside.octets(OutsideServer.lines(said));
        }
        int end = said.indexOf('|');
        String line = end < 0 ? said : said.substring(0, end);
        return Outside.octets(OutsideServer.lines(line + " HTTP/1.1|Host: " + authority(host, port())
                + "|Connection: close" + (end < 0 ? "" : said.substring(end)) + "||"));
    }

    private String authority(@Nullable String host, int port) {
        String name = host != null && host.contains(":") ? "[" + host + "]" : String.valueOf(host);
        return port == (isTls() ? 443 : 80) ? name : name + ":" + port;
    }

    /// What the outside must have received, all of it.
    List<String> outside() {
        Object value = keys.get("outside");
        if (value instanceof List<?>) {
            return texts("outside");
        }
        String said = String.valueOf(value);
        String host = String.valueOf(host()).toLowerCase(Locale.ROOT);
        String name = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
        boolean literal = IpAddress.canonical(name) != null;
        var came = new ArrayList<String>();
        if (said.equals("nothing")) {
            return came;
        }
        if (!literal) {
            came.add("lookup " + name + ".");
        }
        if (said.equals("lookup")) {
            return came;
        }
        String address = literal
                ? name
                : names().getOrDefault(name, List.of(List.of("?"))).getFirst().getFirst();
        String at = (address.contains(":") ? "[" + address + "]" : address) + ":" + port();
        boolean opened = isTls() && !said.equals("dialled");
        came.add((opened ? "tls " + (literal ? "null" : name) + " " : "tcp ") + at + " \"" + body(said, name) + "\"");
        return came;
    }

    private String body(String said, String name) {
        if (said.equals("opened") || said.equals("dialled")) {
            return "";
        }
        if (said.startsWith("WS ")) {
            return "GET " + texts("send").getFirst().split(" ")[1] + " HTTP/1.1|Host: " + authority(name, port())
                    + "|Sec-WebSocket-Version: 13|" + Outside.OTHER_KEY
                    + "|Accept-Encoding: identity|Connection: Upgrade|Upgrade: websocket||" + said.substring(3);
        }
        boolean isShort = said.matches("(?s)[A-Z]+ (?!.*HTTP/).*") && !said.endsWith("|");
        if (!isShort) {
            return said;
        }
        int end = said.indexOf('|');
        return (end < 0 ? said : said.substring(0, end)) + " HTTP/1.1|Host: " + authority(name, port())
                + (end < 0 ? "" : said.substring(end)) + "|Accept-Encoding: identity||";
    }

    /// What the record must have, in order.
    String record() {
        var words = new ArrayList<String>();
        for (String word : text("record", "").split(" ")) {
            if (word.startsWith("..")) {
                words.addAll(opened(word.substring(2)));
            } else if (!word.isEmpty()) {
                words.add(word);
            }
        }
        return String.join(" ", words);
    }

    /// Everything up to the first request, by one rule; `~` before it: only observed.
    private List<String> opened(String rule) {
        String sign = rule.startsWith("~") ? "~" : "+";
        String by = rule.startsWith("~") ? rule.substring(1) : rule;
        boolean named = IpAddress.canonical(String.valueOf(host())) == null;
        var words = new ArrayList<String>();
        if (named) {
            words.add(sign + "dns:" + by);
        }
        words.add(sign + "connect:" + by);
        words.add(sign + "dial:" + by);
        if (isTls()) {
            words.add(sign + "tls:" + by);
        }
        return words;
    }

    @Override
    public String toString() {
        return group + ": " + id();
    }

    static String ascii(byte[] octets) {
        return new String(octets, StandardCharsets.ISO_8859_1);
    }
}
