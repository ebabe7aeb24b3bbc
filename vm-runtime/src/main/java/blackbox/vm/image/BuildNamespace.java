package blackbox.vm.image;

import blackbox.vm.Command;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// Where packages are installed: namespaces in which the building user is root and has the user ids of a
/// whole system, without network and with private mounts. Root has those ids already. Other users get them in
/// a user namespace, from their range in `/etc/subuid` (user_namespaces(7), newuidmap(1)); files that their
/// root creates there belong to ids of that range outside, so only [#delete] can delete them.
public final class BuildNamespace {
    private static final List<String> SECLUDED =
            List.of("--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc");
    private static final List<String> MAPPED = List.of("--user", "--map-auto", "--map-root-user");
    private static final Duration TRIAL_TIMEOUT = Duration.ofSeconds(20);
    private static final Duration DELETE_TIMEOUT = Duration.ofMinutes(5);

    private BuildNamespace() {}

    /// A command in such namespaces.
    static Command command(List<String> argv, Duration timeout) throws VmException {
        var words = Stream.of(List.of("unshare"), isRoot() ? List.<String>of() : MAPPED, SECLUDED, List.of("--"), argv)
                .flatMap(List::stream)
                .toList();
        return new Command(words, null, Map.of(), timeout);
    }

    /// Tries what a build does there: give a file to another user, and mount.
    ///
    /// @param folder in which a build would take place
    /// @throws VmException `TOOL_MISSING` or `TOOL_FAILED`, with what to do
    public static void check(Path folder) throws VmException {
        String trial = "cd \"$0\" && f=$(mktemp -p .) && chown 1000:1000 \"$f\" && rm \"$f\" && mount --bind . /mnt";
        try {
            command(List.of("sh", "-euc", trial, folder.toAbsolutePath().toString()), TRIAL_TIMEOUT)
                    .run();
        } catch (VmException e) {
            if (e.code() != Code.TOOL_FAILED) {
                throw e;
            }
            throw new VmException(e.code(), "packages cannot be installed here: " + mend(e.getMessage()), e);
        }
    }

    /// Deletes a folder with files of the guest's users; does nothing if it does not exist.
    static void delete(Path folder) throws VmException {
        if (Files.exists(folder)) {
            command(List.of("rm", "-rf", folder.toAbsolutePath().toString()), DELETE_TIMEOUT)
                    .run();
        }
    }

    private static String mend(String failure) throws VmException {
        if (isRoot()) {
            return failure + "; this root lacks the rights to make namespaces (a container without CAP_SYS_ADMIN?)";
        }
        String user = System.getProperty("user.name");
        if (Command.find("newuidmap") == null) {
            return "users other than root need the package uidmap for this; apt-get install uidmap";
        }
        if (!hasRange(Path.of("/etc/subuid"), user) || !hasRange(Path.of("/etc/subgid"), user)) {
            return "/etc/subuid or /etc/subgid does not give " + user
                    + " a range of 65536 ids; as root, run: usermod --add-subuids 100000-165535 --add-subgids 100000-165535 "
                    + user + " (or another unused range)";
        }
        return failure + "; are user namespaces disabled (sysctl user.max_user_namespaces,"
                + " kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)?";
    }

    /// Whether subuid(5) gives a user enough ids.
    private static boolean hasRange(Path file, String user) throws VmException {
        try (Stream<String> lines = Files.exists(file) ? Files.lines(file) : Stream.empty()) {
            String uid = Integer.toString(uid());
            return lines.map(line -> line.split(":", -1))
                    .anyMatch(words -> words.length == 3
                            && (words[0].equals(user) || words[0].equals(uid))
                            && words[2].matches("[0-9]{5,10}")
                            && Long.parseLong(words[2]) >= 65_535);
        } catch (IOException e) {
            throw new VmException(Code.IO, file + " could not be read", e);
        }
    }

    private static boolean isRoot() throws VmException {
        return uid() == 0;
    }

    private static int uid() throws VmException {
        try {
            return (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        } catch (IOException e) {
            throw new VmException(Code.IO, "the current user could not be determined", e);
        }
    }
}
