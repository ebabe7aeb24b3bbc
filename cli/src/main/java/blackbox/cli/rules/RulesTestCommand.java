package blackbox.cli.rules;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.output.JsonOut;
import blackbox.evidence.text.Printable;
import blackbox.node.alert.RuleFiles;
import blackbox.node.alert.RuleFiles.Refused;
import blackbox.rules.RuleException;
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

/// `blackbox rules test`.
@Command(
        name = "test",
        description = {
            "Say which rules can be used, and of the others why they cannot. Exit 1 when a file is no rule or a wrong one, or"
                    + " when rules do not go together.",
            "",
            "Rules about logs or fields that Blackbox does not record are left out, and are no reason for exit 1."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {"  blackbox rules test my-rule.yml", "  blackbox rules test sigma/rules/linux --json"})
final class RulesTestCommand implements Callable<Integer> {
    @Parameters(arity = "1..*", paramLabel = "RULES", description = "agents, a file or a folder.")
    private List<String> places = new ArrayList<>();

    @Option(names = "--json", description = "One JSON document on standard output.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        RuleFiles read = RulePlaces.read(places);
        var wrong = new ArrayList<>(read.wrong());
        try {
            read.set();
        } catch (RuleException e) {
            wrong.add(new Refused("together", String.valueOf(e.getMessage())));
        }
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            JsonOut.document(out, generator -> {
                generator.writeStartObject();
                RulesJson.rules(generator, "rules", read.rules());
                RulesJson.refused(generator, "leftOut", read.leftOut());
                RulesJson.refused(generator, "wrong", wrong);
                generator.writeEndObject();
            });
        } else {
            read.leftOut().forEach(each -> out.println("left out  " + Printable.of(each.file() + ": " + each.why())));
            wrong.forEach(each -> out.println("wrong     " + Printable.of(each.file() + ": " + each.why())));
            out.println(read.rules().size() + " rules can be used, "
                    + read.leftOut().size() + " are left out, " + wrong.size() + " are wrong");
        }
        out.flush();
        return wrong.isEmpty() ? ExitCodes.OK : ExitCodes.DOES_NOT_HOLD;
    }
}
