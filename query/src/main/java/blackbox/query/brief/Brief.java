package blackbox.query.brief;

import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/// What a run's agent did, the most important first. What is the supervisor's is counted only.
///
/// @param command that was run; empty if it is not known
/// @param ended in words: `exit 0`
/// @param changes the files that the agent changed, those outside the workspace first
/// @param foldersChanged folders that it made or removed
/// @param readOutside files that it read outside the workspace and the system's folders for programs
/// @param processes how many processes executed a program
/// @param programs how often each was executed, by name
/// @param events how many are the agent's, the supervisor's, the host's
/// @param limits what may not have been seen
public record Brief(
        List<String> command,
        @Nullable String ended,
        List<Notable> notables,
        List<Contact> network,
        List<FileChange> changes,
        long foldersChanged,
        List<String> readOutside,
        long processes,
        SortedMap<String, Long> programs,
        Events events,
        List<String> limits) {

    /// How many events, by whose act they are.
    public record Events(long agent, long supervisor, long host) {}

    public Brief {
        command = List.copyOf(command);
        notables = List.copyOf(notables);
        network = List.copyOf(network);
        changes = List.copyOf(changes);
        readOutside = List.copyOf(readOutside);
        limits = List.copyOf(limits);
    }

    /// How many of the changed files came out that way.
    public long count(FileChange.Net net) {
        return changes.stream().filter(each -> each.net() == net).count();
    }
}
