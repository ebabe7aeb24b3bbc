package blackbox.vm.machine;

import blackbox.schemas.OctetText;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// How the agent is started. Arguments and environment are octets, because not all of them are text.
///
/// @param argv at least one
/// @param environment `NAME=value`, added to the guest's minimal one
/// @param cwd a path in the guest; null for the workspace
/// @param user with whose rights it runs
/// @param limits what it may use of its guest
/// @param terminal that it gets in place of pipes, or null
/// @param trusted the certificate of an authority that its programs are to trust, in PEM, or null
public record AgentCommand(
        List<byte[]> argv,
        List<byte[]> environment,
        @Nullable String cwd,
        AgentUser user,
        AgentLimits limits,
        @Nullable Terminal terminal,
        @Nullable String trusted) {
    /// A kernel accepts 2 MiB of arguments and environment together; beyond that, it is the kernel that refuses.
    private static final long BYTES_MAX = 4 << 20;

    public AgentCommand {
        argv = List.copyOf(argv);
        environment = List.copyOf(environment);
        if (argv.isEmpty() || argv.getFirst().length == 0) {
            throw new IllegalArgumentException("the agent's command is empty");
        }
        long bytes = 0;
        for (var list : List.of(argv, environment)) {
            for (byte[] each : list) {
                bytes += each.length;
                if (contains(each, (byte) 0)) {
                    throw new IllegalArgumentException("an argument or variable of the agent contains a NUL");
                }
            }
        }
        if (bytes > BYTES_MAX) {
            throw new IllegalArgumentException("the agent's arguments and environment have more than 4 MiB");
        }
        for (byte[] each : environment) {
            if (!contains(each, (byte) '=') || each[0] == '=') {
                throw new IllegalArgumentException("a variable of the agent is not of the form NAME=value");
            }
        }
    }

    /// A command without a limit on processes, with pipes.
    public AgentCommand(List<byte[]> argv, List<byte[]> environment, @Nullable String cwd, AgentUser user) {
        this(argv, environment, cwd, user, AgentLimits.NONE, null, null);
    }

    /// Who the agent is in the guest.
    public enum AgentUser {
        /// `agent`, user id 1000.
        AGENT,
        /// `root` with a reduced set of capabilities.
        ROOT
    }

    /// A command given as words, to run in the agent's workspace.
    ///
    /// @param command program and arguments, each [OctetText]
    /// @param environment variables and values, [OctetText]; the agent gets them in the order of their names
    /// @param user `agent` or `root`
    /// @param limits what it may use of its guest
    /// @param terminal that it gets in place of pipes, or null
    public static AgentCommand of(
            List<String> command,
            Map<String, String> environment,
            String user,
            AgentLimits limits,
            @Nullable Terminal terminal) {
        List<byte[]> argv = command.stream().map(OctetText::octets).toList();
        List<byte[]> variables = environment.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(entry -> OctetText.octets(entry.getKey() + "=" + entry.getValue()))
                .toList();
        return new AgentCommand(
                argv, variables, null, user.equals("root") ? AgentUser.ROOT : AgentUser.AGENT, limits, terminal, null);
    }

    /// The same, in a guest whose programs trust an authority.
    public AgentCommand trusting(@Nullable String certificate) {
        return new AgentCommand(argv, environment, cwd, user, limits, terminal, certificate);
    }

    private static boolean contains(byte[] octets, byte wanted) {
        for (byte octet : octets) {
            if (octet == wanted) {
                return true;
            }
        }
        return false;
    }
}
