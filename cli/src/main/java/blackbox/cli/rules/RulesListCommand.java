package blackbox.cli.rules;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.output.JsonOut;
import blackbox.node.alert.RuleFiles;
import blackbox.rules.Rule;
import blackbox.rules.RuleSet;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `blackbox rules list`.
@Command(
        name = "list",
        description = "List rules that can be used. Those that only serve rules over them are marked with a dot.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {"  blackbox rules list", "  blackbox rules list my-rules/ --json"})
final class RulesListCommand implements Callable<Integer> {
    @Parameters(arity = "0..*", paramLabel = "RULES", description = "agents, a file or a folder (default: agents).")
    private List<String> places = new ArrayList<>();

    @Option(names = "--json", description = "One JSON document on standard output.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        RuleFiles read = RulePlaces.read(places);
        RuleSet set = RulePlaces.set(read);
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            JsonOut.document(out, generator -> {
                generator.writeStartObject();
                RulesJson.rules(generator, "rules", set.rules());
                RulesJson.refused(generator, "leftOut", read.leftOut());
                RulesJson.refused(generator, "wrong", read.wrong());
                generator.writeStringField("digest", set.digest());
                generator.writeEndObject();
            });
        } else {
            for (Rule rule : set.rules()) {
                out.println("%s %-13s %-18s %s"
                        .formatted(
                                set.isTold(rule) ? " " : "·",
                                rule.about().level().word(),
                                RulesJson.about(rule),
                                rule.about().title()));
            }
            if (!read.leftOut().isEmpty() || !read.wrong().isEmpty()) {
                out.println("not listed: " + read.leftOut().size() + " that ask for what is not recorded, "
                        + read.wrong().size() + " that are wrong; `blackbox rules test` says why");
            }
        }
        out.flush();
        return ExitCodes.OK;
    }
}
