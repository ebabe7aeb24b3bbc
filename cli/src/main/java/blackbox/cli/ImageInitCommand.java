package blackbox.cli;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.node.image.LocalImages;
import blackbox.vm.VmException;
import blackbox.vm.define.ImageDefinitions;
import blackbox.vm.define.StartingDefinition;
import blackbox.vm.define.StartingDefinition.Existing;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `blackbox image init`: writes the definition of an image to begin with.
@Command(
        name = "init",
        description = {
            "Write the definition of an image of your own: a commented one, or a copy of an agent's with its npm lock.",
            "It says what the image has besides that of 'default': Debian packages, npm packages, files, environment."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox image init my-agent.json                 then edit it, and: blackbox image build my-agent.json",
            "  blackbox image init --agent claude my-claude.json"
        })
final class ImageInitCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common = new CommonOptions();

    @Parameters(
            arity = "0..1",
            paramLabel = "NAME|FILE",
            defaultValue = "my-agent.json",
            description = "The image's name, or the file to write, called like it (default: ${DEFAULT-VALUE}).")
    private String what = "";

    @Option(
            names = "--agent",
            paramLabel = "AGENT",
            completionCandidates = Agents.class,
            description = "Begin with the definition of this agent (${COMPLETION-CANDIDATES}).")
    @Nullable
    private String agent;

    @Option(names = "--force", description = "Replace files that exist.")
    private boolean force;

    @Override
    public Integer call() throws VmException {
        Path file = Path.of(LocalImages.isFile(what) ? what : what + ".json");
        List<Path> written = StartingDefinition.write(file, agent, force ? Existing.REPLACE : Existing.REFUSE);
        if (common.json()) {
            ObjectNode node = JsonNodeFactory.instance.objectNode();
            written.forEach(each -> node.withArray("files").add(each.toString()));
            System.out.println(node);
        } else {
            written.forEach(System.out::println);
            System.err.println("blackbox: next: blackbox image build " + file);
        }
        return ExitCodes.OK;
    }

    /// For shells to complete.
    static final class Agents implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return ImageDefinitions.AGENTS.iterator();
        }
    }
}
