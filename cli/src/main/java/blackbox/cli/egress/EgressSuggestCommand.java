package blackbox.cli.egress;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.output.JsonOut;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.text.Printable;
import blackbox.policy.Policy;
import blackbox.policy.text.CanonicalPolicy;
import blackbox.policy.text.PolicyException;
import blackbox.policy.text.PolicyReader;
import blackbox.query.QueryException;
import blackbox.query.egress.PolicySuggestion;
import blackbox.query.egress.RecordedEgress;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `blackbox egress suggest`.
@Command(
        name = "suggest",
        description = {
            "Write a policy, as YAML, that allows what runs did and nothing else: exact names, addresses and ports.",
            "",
            "It is a first draft: read it before it is used. What the runs did is in it whether it was meant or "
                    + "not; what no policy allows, and names that were only asked for, are comments, and so "
                    + "are programs and records beside addresses, which `record --policy` does not take in rules. "
                    + "Methods and paths are not suggested."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox egress suggest last > policy.yaml",
            "  blackbox egress suggest nightly last --json     the policy, its digest, and what may be missing",
            "  blackbox egress suggest last --programs         rules for the programs that were seen"
        })
final class EgressSuggestCommand implements Callable<Integer> {

    @Mixin
    private CommonOptions common;

    @Parameters(
            index = "0..*",
            arity = "1..*",
            paramLabel = "RUN",
            description = "Runs: an id, a unique prefix of it, a name, or `last`.")
    private List<String> runs = List.of();

    @Option(names = "--programs", description = "Write rules for the programs that were seen (`process`).")
    private boolean programs;

    @Option(names = "--dns", description = "Allow the records beside addresses that were asked for (`dns`).")
    private boolean dns;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, QueryException {
        Recordings recordings = common.recordings();
        List<RecordedEgress> recorded = RunArguments.egress(recordings, runs);
        String text = PolicySuggestion.of(
                recorded,
                recorded.stream().map(egress -> egress.run().value()).toList(),
                new PolicySuggestion.Options(programs, dns));
        List<String> limits = recorded.stream()
                .flatMap(egress -> egress.limits().stream()
                        .map(limit -> "run " + egress.run().value() + ": " + limit))
                .toList();
        Policy policy;
        try {
            policy = PolicyReader.read(text.getBytes(StandardCharsets.UTF_8));
        } catch (PolicyException e) {
            throw CommandException.badInput("what these runs did cannot be written as one policy: "
                    + e.problems().getFirst().what() + "; name fewer runs");
        }
        PrintWriter out = spec.commandLine().getOut();
        if (common.json()) {
            JsonOut.document(out, json -> {
                json.writeStartObject();
                json.writeStringField("policy", CanonicalPolicy.digest(policy));
                json.writeStringField("yaml", text);
                json.writeArrayFieldStart("limits");
                for (String limit : limits) {
                    json.writeString(limit);
                }
                json.writeEndArray();
                json.writeEndObject();
            });
        } else {
            out.print(text);
            out.flush();
        }
        limits.forEach(limit -> System.err.println("blackbox: " + Printable.of(limit)));
        return ExitCodes.OK;
    }
}
