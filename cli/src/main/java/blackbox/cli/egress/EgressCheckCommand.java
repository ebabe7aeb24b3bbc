package blackbox.cli.egress;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.output.JsonOut;
import blackbox.evidence.store.Recordings;
import blackbox.policy.Policy;
import blackbox.policy.text.CanonicalPolicy;
import blackbox.query.QueryException;
import blackbox.query.egress.EgressCheck;
import blackbox.query.egress.EgressCheckJson;
import blackbox.query.egress.EgressCheckText;
import blackbox.query.egress.RecordedEgress;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `blackbox egress check`.
@Command(
        name = "check",
        description = {
            "Judge what recorded runs sent out by a policy. Exit 1 when it would have refused a flow, or cannot judge one.",
            "",
            "A flow counts as one to a name only where the network's resolver had given its address for that name before,"
                    + " or where the egress gateway connected it; otherwise its address is judged.",
            "",
            "Names that were only asked for, and that the policy would not have answered, and what the gateway"
                    + " refused already, are listed and do not count."
                    + " Methods, paths, tools and budgets are not judged, so a rule that names them counts as fitting; "
                    + "the notes say so, and what else is not known."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {"  blackbox egress check policy.yaml last", "  blackbox egress check policy.yaml nightly last --json"
        })
final class EgressCheckCommand implements Callable<Integer> {

    @Mixin
    private CommonOptions common;

    @Mixin
    private PolicyArgument argument;

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "RUN",
            description = "Runs: an id, a unique prefix of it, a name, or `last`.")
    private List<String> runs = List.of();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, QueryException {
        Policy policy = argument.policy();
        Recordings recordings = common.recordings();
        List<RecordedEgress> recorded = RunArguments.egress(recordings, runs);
        List<EgressCheck> checks =
                recorded.stream().map(egress -> EgressCheck.of(policy, egress)).toList();
        PrintWriter out = spec.commandLine().getOut();
        if (common.json()) {
            JsonOut.document(out, json -> EgressCheckJson.write(json, CanonicalPolicy.digest(policy), checks));
        } else {
            out.println("policy " + CanonicalPolicy.digest(policy));
            checks.forEach(check -> EgressCheckText.print(out, check));
            out.flush();
        }
        return checks.stream().allMatch(EgressCheck::holds) ? ExitCodes.OK : ExitCodes.DOES_NOT_HOLD;
    }
}
