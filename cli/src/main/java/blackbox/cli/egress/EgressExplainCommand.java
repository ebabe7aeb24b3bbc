package blackbox.cli.egress;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.output.JsonOut;
import blackbox.policy.Mode;
import blackbox.policy.Policy;
import blackbox.policy.Rule;
import blackbox.policy.Upstream;
import blackbox.policy.budget.Budget;
import blackbox.policy.budget.Limit;
import blackbox.policy.decide.Connection;
import blackbox.policy.decide.Decision;
import blackbox.policy.decide.Evaluator;
import blackbox.policy.decide.Exchange;
import blackbox.policy.decide.Explanation;
import blackbox.policy.decide.Need;
import blackbox.policy.decide.Request;
import blackbox.policy.decide.Stage;
import blackbox.policy.decide.Url;
import blackbox.policy.decide.Verdict;
import blackbox.policy.host.Address;
import blackbox.policy.text.CanonicalPolicy;
import blackbox.query.egress.EgressCheckJson;
import blackbox.query.egress.EgressCheckText;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `blackbox egress explain`.
@Command(
        name = "explain",
        description = {
            "Show what a policy says of a URL, stage by stage, with the rule that decides each. Exit 1 when it "
                    + "is refused, or would be if the policy were enforced (would-deny).",
            "",
            "Budgets are shown and not judged: what is left of them depends on what a run has spent.",
            "",
            "Nothing is resolved: what a name leads to is judged when it is dialled, and addresses that are not "
                    + "public are refused then."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox egress explain policy.yaml https://api.example/v1/messages --method POST",
            "  blackbox egress explain policy.yaml https://raw.github.com/a --process /usr/bin/git",
            "  blackbox egress explain policy.yaml tcp://db.example:5432 --json",
            "  blackbox egress explain policy.yaml https://mcp.example/ --tool search"
        })
final class EgressExplainCommand implements Callable<Integer> {

    @Mixin
    private PolicyArgument argument;

    @Parameters(index = "1", paramLabel = "URL", description = "Of http, https, ws, wss, or tcp://HOST:PORT.")
    private String url = "";

    @Option(
            names = "--method",
            paramLabel = "M",
            description = "The request's method (default: GET; POST with --tool).")
    private @Nullable String method;

    @Option(names = "--tool", paramLabel = "T", description = "The tool that a message to an MCP server calls.")
    private @Nullable String tool;

    @Option(
            names = "--process",
            paramLabel = "EXE",
            description = "The absolute path of the program (default: not known, so rules for programs do not apply).")
    private @Nullable String exe;

    @Option(names = "--json", description = "One JSON document on standard output.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        Policy policy = argument.policy();
        Url asked;
        try {
            asked = Url.parse(url);
        } catch (IllegalArgumentException e) {
            throw CommandException.badInput(String.valueOf(e.getMessage()));
        }
        if (tool != null && asked.scheme() != Url.Scheme.HTTP && asked.scheme() != Url.Scheme.HTTPS) {
            throw CommandException.badInput("--tool is about MCP, which is spoken over http and https");
        }
        String verb = method != null ? method : tool != null ? "POST" : "GET";
        var evaluator = new Evaluator(policy, List.of());
        List<Decision> decisions = decisions(policy, evaluator, asked, verb);
        boolean allowed = decisions.stream().allMatch(decision -> decision.verdict() == Verdict.ALLOW);
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            JsonOut.document(out, generator -> write(generator, policy, evaluator, decisions, verb, allowed));
        } else {
            out.println("policy " + CanonicalPolicy.digest(policy));
            decisions.forEach(each -> out.println(line(evaluator, each)));
            out.flush();
        }
        return allowed ? ExitCodes.OK : ExitCodes.DOES_NOT_HOLD;
    }

    private List<Decision> decisions(Policy policy, Evaluator evaluator, Url asked, String verb) {
        var decisions =
                new ArrayList<>(Explanation.of(evaluator, asked, verb, exe).decisions());
        Decision last = decisions.getLast();
        if (!last.goesOn()) {
            return decisions;
        }
        if (asked.scheme() == Url.Scheme.TCP
                && (last.needs().contains(Need.REQUEST) || last.needs().contains(Need.TOOL))) {
            decisions.add(new Decision(
                    policy.mode() == Mode.ENFORCE ? Verdict.DENY : Verdict.WOULD_DENY,
                    Stage.HTTP,
                    Decision.DEFAULT,
                    "rule " + last.rule() + " allows requests of HTTP only, and this is a connection on which something"
                            + " else is spoken",
                    Set.of()));
        } else if (tool != null) {
            Address address = Address.parse(asked.host());
            String name = address == null ? asked.host() : null;
            var connection = new Connection(Connection.Transport.TCP, name, address, asked.port(), exe);
            String shown = asked.host().contains(":") ? "[" + asked.host() + "]" : asked.host();
            var exchange = new Exchange(verb, shown + ":" + asked.port(), asked.target(), Set.of());
            decisions.add(evaluator.decide(new Request.Mcp(connection, null, exchange, Request.Mcp.CALL, tool)));
        }
        return decisions;
    }

    private static String line(Evaluator evaluator, Decision decision) {
        var line = new StringBuilder("%-8s %-10s %s"
                .formatted(decision.stage().word(), decision.verdict().word(), EgressCheckText.why(decision)));
        Rule rule = evaluator.rule(decision);
        if (rule != null && rule.upstream() != null) {
            line.append("; dialled is ").append(rule.upstream());
        }
        if (rule != null && rule.secret() != null) {
            line.append("; secret ").append(rule.secret()).append(" goes with its requests");
        }
        if (rule != null && rule.budget() != null) {
            line.append("; at most ")
                    .append(rule.budget().words())
                    .append(" in a run, of which nothing is taken to be spent here");
        }
        if (!decision.needs().isEmpty()) {
            line.append(decision.needs().stream()
                    .map(EgressExplainCommand::inWords)
                    .collect(Collectors.joining(", ", "; still to be judged: ", "")));
        }
        return line.toString();
    }

    private static String inWords(Need need) {
        return switch (need) {
            case CONNECTION -> "the connection";
            case ADDRESS -> "the address that is dialled";
            case REQUEST -> "each request";
            case TOOL -> "each message (--tool)";
        };
    }

    private static void budget(JsonGenerator out, @Nullable Budget budget) throws IOException {
        if (budget == null) {
            out.writeNullField("budget");
            return;
        }
        out.writeObjectFieldStart("budget");
        for (Map.Entry<Limit, Long> limit : budget.limits().entrySet()) {
            out.writeNumberField(
                    limit.getKey() == Limit.USD ? "usdMicros" : limit.getKey().key(), limit.getValue());
        }
        out.writeEndObject();
    }

    private void write(
            JsonGenerator out,
            Policy policy,
            Evaluator evaluator,
            List<Decision> decisions,
            String verb,
            boolean allowed)
            throws IOException {
        out.writeStartObject();
        out.writeStringField("policy", CanonicalPolicy.digest(policy));
        out.writeStringField("url", url);
        out.writeStringField("method", verb);
        out.writeStringField("process", exe);
        out.writeStringField("tool", tool);
        out.writeBooleanField("allowed", allowed);
        out.writeArrayFieldStart("stages");
        for (Decision decision : decisions) {
            out.writeStartObject();
            EgressCheckJson.decision(out, decision);
            Rule rule = evaluator.rule(decision);
            if (rule != null) {
                Upstream upstream = rule.upstream();
                out.writeStringField("upstream", upstream == null ? null : upstream.toString());
                out.writeStringField("secret", rule.secret());
                budget(out, rule.budget());
            }
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeEndObject();
    }
}
