package blackbox.query.why;

import blackbox.query.run.RunFacts;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.PrivilegeView;
import blackbox.schemas.view.ProcessView;
import blackbox.schemas.view.RecorderView;
import blackbox.schemas.view.RunView;
import blackbox.schemas.view.VmView;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// What an event did, as far as it is compared with what a tool was asked for.
///
/// @param paths of the files that it was about, in the guest
/// @param bytesWritten to a file; null if it wrote none, or that is not known
/// @param hosts names of the peer, and its address
/// @param mcp the tool that was called at an MCP server, and its arguments
record Act(
        List<String> paths,
        @Nullable Long bytesWritten,
        Set<String> hosts,
        @Nullable Mcp mcp) {

    record Mcp(@Nullable String name, @Nullable String arguments) {}

    static Act of(EventView event, Connections connections) {
        return switch (event) {
            case FileView.Io io -> {
                boolean wrote = io.writes() > 0 && io.unread().isEmpty();
                yield new Act(paths(io.row()), wrote ? (Long) io.bytesWritten() : null, Set.of(), null);
            }
            case FileView file -> new Act(paths(file.row()), null, Set.of(), null);
            case NetView.McpCall call -> {
                JsonNode detail = RunFacts.detailOf(call.row());
                var mcp = new Mcp(
                        detail.path("name").textValue(),
                        detail.path("arguments").textValue());
                yield new Act(List.of(), null, connections.names(call.remoteIp()), mcp);
            }
            case NetView net -> new Act(List.of(), null, hosts(net, connections), null);
            case ProcessView _, PrivilegeView _, RecorderView _, VmView _, RunView _, EventView.Unknown _ ->
                new Act(List.of(), null, Set.of(), null);
        };
    }

    /// Which tool of an MCP server was called.
    String mcpName() {
        return mcp == null || mcp.name == null ? "?" : mcp.name;
    }

    private static List<String> paths(Row row) {
        return Stream.of(Column.PATH, Column.PATH_TO)
                .filter(row::has)
                .map(column -> row.text(column).toString())
                .toList();
    }

    private static Set<String> hosts(NetView net, Connections connections) {
        Text ip = net.remoteIp();
        Set<String> names = connections.names(ip);
        return !names.isEmpty() || ip == null ? names : Set.of(ip.toString().toLowerCase(Locale.ROOT));
    }

    /// How well it agrees with what a tool was asked for, null if it does not.
    ///
    /// @param cwd where the program began that did it, or null
    @Nullable
    Grade agreement(ToolUse tool, @Nullable String cwd) {
        if (mcp != null) {
            return ofMcp(tool, mcp);
        }
        if (!hosts.isEmpty() && hosts.stream().anyMatch(tool.wanted.hosts()::contains)) {
            return hosts.size() == 1 ? Grade.A : Grade.B;
        }
        Grade best = null;
        for (String wanted : tool.wanted.paths()) {
            for (String path : paths) {
                Grade grade = ofPath(tool, wanted, path, cwd);
                best = best == null || grade != null && grade.compareTo(best) < 0 ? grade : best;
            }
        }
        return best;
    }

    private @Nullable Grade ofPath(ToolUse tool, String wanted, String path, @Nullable String cwd) {
        String plain = wanted.equals(".") ? "" : wanted.startsWith("./") ? wanted.substring(2) : wanted;
        if (plain.isEmpty() && cwd == null) {
            return null;
        }
        boolean absolute = plain.startsWith("/");
        String whole = absolute || cwd == null ? plain : cwd + (cwd.endsWith("/") ? "" : "/") + plain;
        if (path.equals(whole)) {
            Long content = tool.wanted.contentBytes();
            boolean differs = content != null && bytesWritten != null && !content.equals(bytesWritten);
            return differs || tool.wanted.cut() ? Grade.B : Grade.A;
        }
        // Written beside it first, then renamed.
        boolean beside = path.startsWith(whole + ".tmp") || path.startsWith(whole + "~");
        if (beside || !absolute && !plain.isEmpty() && path.endsWith("/" + plain)) {
            return Grade.B;
        }
        return path.startsWith(whole.endsWith("/") ? whole : whole + "/") ? Grade.C : null;
    }

    /// Coding agents put the server's name before the tool's, as in `mcp__server__tool`.
    private static @Nullable Grade ofMcp(ToolUse tool, Mcp called) {
        String name = tool.name;
        if (name == null || called.name == null) {
            return null;
        }
        boolean named =
                name.equals(called.name) || name.endsWith("_" + called.name) || name.endsWith("." + called.name);
        boolean given = tool.arguments != null && tool.arguments.equals(called.arguments);
        return !named ? null : given ? Grade.A : Grade.B;
    }
}
