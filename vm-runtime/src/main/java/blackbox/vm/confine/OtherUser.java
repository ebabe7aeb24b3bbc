package blackbox.vm.confine;

import blackbox.vm.VmException;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.SecureRandom;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// As whom a process runs that root starts: a user and a group of its own, which no account of this host has,
/// so that to the host's other files and processes it is a stranger. What it may read and does not own belongs
/// to one group that all such processes share.
///
/// @param id of both the user and the group
/// @param readers of the shared group
record OtherUser(int id, int readers) {
    /// The first of the ids that systemd's table of all ranges leaves to nobody (1879048192 to 2147483647).
    private static final int UNUSED = 1_879_048_192;
    /// Where this program's own user namespace has no such ids: the first of those for services' passing users.
    private static final int PASSING = 61_184;

    private static final int UNUSED_COUNT = 1 << 20;
    private static final int PASSING_COUNT = 4_000;

    private static final RandomGenerator RANDOM = new SecureRandom();
    private static final Path STATUS = Path.of("/proc/self/status");
    /// The effective user is the second number.
    private static final Pattern ROOT = Pattern.compile("Uid:\\s+\\d+\\s+0\\s.*");

    private static final Path IDS = Path.of("/proc/self/uid_map");

    private static final int GROUP_READS = 0040;
    private static final int GROUP_ENTERS = 0010;
    private static final int OWNER_EXECUTES = 0100;

    /// A new one if we are root, else null: then the process keeps our own user, without any right over others.
    static @Nullable OtherUser ifWeAreRoot() throws VmException {
        try {
            if (Files.readAllLines(STATUS).stream().noneMatch(ROOT.asMatchPredicate())) {
                return null;
            }
            List<String> mapped = Files.readAllLines(IDS);
            return isMapped(mapped, UNUSED + UNUSED_COUNT)
                    ? new OtherUser(UNUSED + 1 + RANDOM.nextInt(UNUSED_COUNT), UNUSED)
                    : passing(mapped);
        } catch (IOException e) {
            throw Confinement.impossible("/proc does not say who we are", e);
        }
    }

    private static OtherUser passing(List<String> mapped) throws VmException {
        if (!isMapped(mapped, PASSING + PASSING_COUNT)) {
            throw Confinement.impossible("in this container root has no other users (" + IDS + ")", null);
        }
        return new OtherUser(PASSING + 1 + RANDOM.nextInt(PASSING_COUNT), PASSING);
    }

    /// Each line: the first id inside, the first outside, how many.
    private static boolean isMapped(List<String> lines, int last) {
        return lines.stream().map(line -> line.strip().split("\\s+")).anyMatch(words -> {
            long first = Long.parseLong(words[0]);
            return first <= last && last < first + Long.parseLong(words[2]);
        });
    }

    /// Makes a file or a whole folder this user's.
    void give(Path tree) throws VmException {
        own(tree, 0, id);
    }

    /// Makes root the owner again of all in `tree` that is this user's.
    void takeBack(Path tree) throws VmException {
        own(tree, id, 0);
    }

    /// Lets the readers read a file or a whole folder.
    void letRead(Path tree) throws VmException {
        each(tree, (path, isFolder) -> {
            if (!Integer.valueOf(readers).equals(attribute(path, "unix:gid"))) {
                set(path, "unix:gid", readers);
            }
            if (Files.isSymbolicLink(path)) {
                return;
            }
            int mode = (Integer) attribute(path, "unix:mode") & 07777;
            int wanted = mode | GROUP_READS | (isFolder || (mode & OWNER_EXECUTES) != 0 ? GROUP_ENTERS : 0);
            if (wanted != mode) {
                set(path, "unix:mode", wanted);
            }
        });
    }

    private static void own(Path tree, int from, int to) throws VmException {
        each(tree, (path, isFolder) -> {
            if (Integer.valueOf(from).equals(attribute(path, "unix:uid"))) {
                set(path, "unix:uid", to);
                set(path, "unix:gid", to);
            }
        });
    }

    private static Object attribute(Path path, String name) throws IOException {
        return Files.getAttribute(path, name, LinkOption.NOFOLLOW_LINKS);
    }

    private static void set(Path path, String name, int value) throws IOException {
        Files.setAttribute(path, name, value, LinkOption.NOFOLLOW_LINKS);
    }

    @FunctionalInterface
    private interface Change {
        void make(Path path, boolean isFolder) throws IOException;
    }

    private static void each(Path tree, Change change) throws VmException {
        try {
            Files.walkFileTree(tree, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes)
                        throws IOException {
                    change.make(folder, true);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    change.make(file, false);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw Confinement.impossible(tree + " cannot be given to another user", e);
        }
    }
}
