package blackbox.query.hunt;

import blackbox.rules.Rule;
import blackbox.rules.RuleException;
import blackbox.rules.sigma.SigmaReader;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/// Rules of any category with any modifiers over the words of [MadeUpEvents], written as JSON, which is YAML.
final class MadeUpRules {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> CATEGORIES =
            List.of("process_creation", "file_event", "file_access", "file_delete", "network_connection", "dns_query");
    private static final List<String> MODIFIERS = List.of(
            "",
            "|contains",
            "|startswith",
            "|endswith",
            "|contains|all",
            "|cased",
            "|contains|cased",
            "|neq",
            "|windash");
    private static final List<String> EXPRESSIONS = List.of(
            "a", "^.a", "[^a]$", "(?i)A\\\\s", "é+", ".", "\\.", "[0-9]{2}", "a|b", "^$", "\\pL{500}", "(?s)a.b");

    private final RandomGenerator random;

    MadeUpRules(RandomGenerator random) {
        this.random = random;
    }

    /// @return so many that can be read, and over some of them rules that count
    List<Rule> rules(int count) {
        var rules = new ArrayList<Rule>();
        for (int i = 0; rules.size() < count; i++) {
            ObjectNode rule =
                    JSON.createObjectNode().put("title", "t").put("id", "r" + i).put("level", "low");
            String about = random.nextInt(4) == 0 ? "vm.lifecycle" : any(CATEGORIES);
            rule.putObject("logsource")
                    .put("product", about.contains(".") ? "blackbox" : "linux")
                    .put("category", about);
            ObjectNode detection = rule.putObject("detection");
            search(detection.putObject("one"), about);
            search(detection.putObject("two"), about);
            detection.put("condition", any(List.of("one", "one and not two", "one or two", "not one", "1 of them")));
            try {
                rules.addAll(SigmaReader.read("r" + i, octets(rule)));
            } catch (RuleException _) {
                // another one
            }
        }
        for (int i = 0; i < count / 4; i++) {
            ObjectNode rule = JSON.createObjectNode().put("title", "t").put("id", "c" + i);
            ObjectNode correlation = rule.putObject("correlation")
                    .put("type", any(List.of("event_count", "value_count", "temporal", "temporal_ordered")))
                    .put("timespan", (1 + random.nextInt(30)) + "s")
                    .put("generate", true);
            ObjectNode condition = correlation.putObject("condition").put("gte", 2);
            if (correlation.path("type").asText().equals("value_count")) {
                condition.put("field", "Image");
            }
            correlation.putArray("rules").add(id(rules, count)).add(id(rules, count));
            if (random.nextBoolean()) {
                correlation.put("group-by", "Image");
            }
            try {
                rules.addAll(SigmaReader.read("c" + i, octets(rule)));
            } catch (RuleException e) {
                throw new AssertionError(e);
            }
        }
        return rules;
    }

    private String id(List<Rule> rules, int count) {
        return rules.get(random.nextInt(count)).about().id();
    }

    private static byte[] octets(ObjectNode rule) {
        return rule.toString().getBytes(StandardCharsets.UTF_8);
    }

    private void search(ObjectNode search, String about) {
        List<String> fields = switch (about) {
            case "process_creation" ->
                List.of("Image", "CommandLine", "ParentImage", "ParentCommandLine", "CurrentDirectory", "User");
            case "network_connection" ->
                List.of("Image", "DestinationIp", "DestinationPort", "DestinationHostname", "ParentImage");
            case "dns_query" -> List.of("QueryName", "QueryResults", "Image");
            case "vm.lifecycle" -> List.of("what", "detail.a", "detail", "source", "at_ns");
            default -> List.of("TargetFilename", "SourceFilename", "Image", "User");
        };
        for (int i = 0; i <= random.nextInt(2); i++) {
            String field = any(fields);
            switch (random.nextInt(7)) {
                case 0 -> search.put(field + "|re", any(EXPRESSIONS));
                case 1 -> search.put(field + any(List.of("|gt", "|lte")), random.nextInt(12));
                case 2 -> search.put(field + "|cidr", any(List.of("10.1.0.0/16", "fe80::/10", "127.0.0.1")));
                case 3 -> search.putNull(field);
                case 4 -> search.put(field + "|fieldref", any(fields));
                default -> search.putArray(field + any(MODIFIERS)).add(words()).add(words());
            }
        }
    }

    private String words() {
        return any(MadeUpEvents.WORDS) + any(MadeUpEvents.WORDS);
    }

    private <T> T any(List<T> all) {
        return all.get(random.nextInt(all.size()));
    }
}
