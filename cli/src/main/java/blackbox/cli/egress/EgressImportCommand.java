package blackbox.cli.egress;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.output.JsonOut;
import blackbox.evidence.text.Printable;
import blackbox.policy.foreign.ForeignPolicies;
import blackbox.policy.foreign.Origin;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `blackbox egress import`.
@Command(
        name = "import",
        description = {
            "Write a policy, as YAML, that says what another sandbox's configuration says.",
            "",
            "Read are settings of sandbox-runtime (JSON: network.allowedDomains and deniedDomains) and jcard.toml files"
                    + " (network.egress_allow). An entry that a policy cannot say as exactly is refused."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox egress import ~/.srt-settings.json > policy.yaml",
            "  blackbox egress import jcard.toml --from jcard"
        })
final class EgressImportCommand implements Callable<Integer> {

    @Parameters(paramLabel = "FILE", description = "The configuration.")
    private Path file = Path.of("");

    @Option(
            names = "--from",
            paramLabel = "FORMAT",
            description = "sandbox-runtime or jcard (default: JSON is the first, TOML the second).")
    private @Nullable String from;

    @Option(names = "--json", description = "One JSON document on standard output, with the policy's text.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        byte[] octets = PolicyFile.octets(file, ForeignPolicies.OCTETS_MAX);
        PrintWriter out = spec.commandLine().getOut();
        try {
            Origin origin = from == null ? ForeignPolicies.origin(octets) : origin(from);
            String text = ForeignPolicies.policy(octets, origin);
            if (json) {
                JsonOut.document(out, generator -> {
                    generator.writeStartObject();
                    generator.writeStringField("from", origin.word());
                    generator.writeStringField("yaml", text);
                    generator.writeEndObject();
                });
            } else {
                out.print(text);
                out.flush();
            }
            return ExitCodes.OK;
        } catch (IllegalArgumentException e) {
            throw CommandException.badInput(file + ": " + Printable.of(String.valueOf(e.getMessage())));
        }
    }

    private static Origin origin(String word) {
        return Arrays.stream(Origin.values())
                .filter(each -> each.word().equals(word))
                .findFirst()
                .orElseThrow(() -> CommandException.badInput("--from takes "
                        + Arrays.stream(Origin.values()).map(Origin::word).collect(Collectors.joining(" or "))
                        + ", not '" + word + "'"));
    }
}
