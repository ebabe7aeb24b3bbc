package blackbox.query.why;

import blackbox.schemas.RunId;
import blackbox.schemas.view.FileEffect;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What followed from the tools that a model asked for.
///
/// @param call as it was asked about: an event's index, or the id of a tool use
/// @param untied programs that the agent's runtime started after that call and before its next while no
///     tool was being used
/// @param untiedCount how many there are, listed or not
/// @param limits in sentences, what may be missing
public record Caused(
        RunId run, String call, List<OfTool> tools, List<Program> untied, long untiedCount, List<String> limits) {

    public Caused {
        tools = List.copyOf(tools);
        untied = List.copyOf(untied);
        limits = List.copyOf(limits);
    }

    /// What followed from one tool use.
    ///
    /// @param grade the best of what followed; X if it has a result and nothing followed; null if it has
    ///     none, or the provider ran it
    /// @param notes in clauses, why it is no surer
    public record OfTool(Used used, @Nullable Grade grade, Effects effects, List<String> notes) {
        public OfTool {
            notes = List.copyOf(notes);
        }
    }

    /// What was done, the surest first, and changes before what was only read.
    ///
    /// @param leftOff how many programs, files, peers and others are not listed
    public record Effects(
            List<Program> execs,
            List<File> files,
            List<Peer> connects,
            List<Other> privileges,
            List<Other> mcpCalls,
            long leftOff) {
        public Effects {
            execs = List.copyOf(execs);
            files = List.copyOf(files);
            connects = List.copyOf(connects);
            privileges = List.copyOf(privileges);
            mcpCalls = List.copyOf(mcpCalls);
        }
    }

    /// A tool use.
    ///
    /// @param call the index of the call whose answer asked for it
    /// @param what it was asked to do
    /// @param window when it can have run
    /// @param broughtBy the index of the call that brought its result, or null
    public record Used(
            long index,
            long call,
            @Nullable String id,
            @Nullable String name,
            String what,
            Window window,
            @Nullable Long broughtBy) {}

    /// A program's start.
    ///
    /// @param grade null if it is tied to nothing
    public record Program(long index, long atNs, @Nullable Grade grade, long pid, String what) {}

    /// What was done to a file.
    ///
    /// @param index of the first event
    /// @param effects all of them
    public record File(
            String path, long index, Grade grade, Set<FileEffect> effects, long bytesRead, long bytesWritten) {}

    /// Whom a process connected, sent or made requests to.
    ///
    /// @param index of the first event
    /// @param names that its address had
    public record Peer(long index, Grade grade, String protocol, String address, List<String> names, long count) {}

    /// A use of privileges, or a call of an MCP server.
    ///
    /// @param index of the first event
    public record Other(long index, Grade grade, String kind, String what, long count) {}
}
