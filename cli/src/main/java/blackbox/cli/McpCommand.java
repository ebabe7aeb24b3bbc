package blackbox.cli;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.TrustOptions;
import blackbox.ingest.table.CatalogView;
import blackbox.node.mcp.McpEndpoint;
import blackbox.node.mcp.McpStream;
import blackbox.schemas.folder.DataFolder;
import java.io.Console;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// `blackbox mcp`.
@Command(
        name = "mcp",
        description = {
            "Answer an agent's questions about recordings: an MCP server on standard input and output.",
            "",
            "Its tools only read: list_runs, show, touched, events, why, caused, output, tables, sql, hunt, verify,"
                    + " prove. What was recorded is marked as untrusted in each answer. The same server is at /api/v1/mcp of"
                    + " `blackbox serve`, with its token."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  claude mcp add blackbox -- blackbox mcp",
            "  codex mcp add blackbox -- blackbox mcp --data /srv/blackbox",
            "  npx @modelcontextprotocol/inspector --cli blackbox mcp --method tools/list"
        })
final class McpCommand implements Callable<Integer> {

    @Mixin
    private CommonOptions common;

    @Mixin
    private TrustOptions trust;

    @Override
    public Integer call() throws IOException, InterruptedException {
        DataFolder folder = common.dataFolder();
        var recordings = common.recordings();
        // What cannot be read is told now, not at the first question.
        trust.believed(folder);
        trust.anchors(folder);
        if (Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false)) {
            System.err.println("blackbox: a program is expected to ask here, in MCP; see blackbox mcp --help");
        }
        PrintStream standard = System.out;
        System.setOut(System.err); // nothing else may come between the answers
        try (var endpoint = new McpEndpoint(
                recordings,
                run -> CatalogView.verify(recordings, run, trust.believed(folder), null, trust.anchors(folder)),
                new SecureRandom())) {
            McpStream.serve(endpoint, System.in, new FileOutputStream(FileDescriptor.out));
        } finally {
            System.setOut(standard);
        }
        return ExitCodes.OK;
    }
}
