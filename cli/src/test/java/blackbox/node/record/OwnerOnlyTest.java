package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Only their owner can read recordings, whatever the umask: they hold arguments, workspaces and captured payloads.
final class OwnerOnlyTest {

    private static final Set<PosixFilePermission> OTHERS = EnumSet.complementOf(EnumSet.of(
            PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE));

    @TempDir
    static Path folder;

    private static Installation blackbox;

    @BeforeAll
    static void install() throws Exception {
        blackbox = Installation.in(folder);
    }

    @Test
    void nothingThatIsRecordedIsOpenToOthers() throws Exception {
        Path workspace = Files.createDirectory(folder.resolve("workspace"));
        Files.writeString(workspace.resolve(".env"), "TOKEN=secret");
        withUmask("000", "record", "--workspace", workspace.toString(), "--", "sh", "-c", "umask 0; echo a > made")
                .expect(0);
        withUmask("000", "replay", "last").expect(0);
        var open = new ArrayList<String>();
        try (Stream<Path> all = Files.walk(blackbox.data())) {
            for (Path each : all.toList()) {
                // What came back has the modes that the agent gave it, below a folder that only the owner enters.
                boolean returned = each.startsWith(blackbox.data().resolve("workspaces"))
                        && each.getNameCount() > blackbox.data().getNameCount() + 1;
                // Links to the snapshot that all tests share have the modes that its maker gave them.
                boolean shared = !Files.isDirectory(each)
                        && Files.getAttribute(each, "unix:nlink", LinkOption.NOFOLLOW_LINKS) instanceof Integer links
                        && links > 1;
                boolean forAll = each.startsWith(blackbox.data().resolve("keys"))
                        && each.toString().endsWith(".pub");
                if (!returned && !shared && !forAll && !Files.isSymbolicLink(each) && isOpen(each)) {
                    open.add(PosixFilePermissions.toString(Files.getPosixFilePermissions(each)) + " " + each);
                }
            }
        }
        assertEquals(List.of(), open);
    }

    @Test
    void aFolderThatOthersMayEnterIsClosed() throws Exception {
        Path empty = Files.createDirectory(folder.resolve("empty"));
        open(empty);
        blackbox.run("keys", "create", "--data", empty.toString()).expect(0).saying("chmod 700");
        assertFalse(isOpen(empty));
        open(empty);
        blackbox.run("keys", "create", "--data", empty.toString()).saying("chmod 700");
        assertFalse(isOpen(empty), "one with recordings or keys");
    }

    @Test
    void aFolderWithSomethingElseInItIsRefused() throws Exception {
        Path home = Files.createDirectory(folder.resolve("it's a home"));
        Files.createDirectory(home.resolve("keys"));
        open(home);
        Ended refused =
                blackbox.run("keys", "create", "--data", home.toString()).expect(2);
        assertTrue(refused.err().contains("chmod 700"), refused::err);
        assertTrue(isOpen(home));
        assertEquals(List.of("keys"), List.of(home.toFile().list()), "nothing was written");
    }

    private static void open(Path folder) throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private static boolean isOpen(Path file) throws Exception {
        var permissions = EnumSet.copyOf(OTHERS);
        permissions.retainAll(Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS));
        return !permissions.isEmpty();
    }

    private static Ended withUmask(String umask, String... arguments) throws Exception {
        var command = new ArrayList<>(List.of("sh", "-c", "umask " + umask + "; exec \"$@\"", "sh"));
        command.addAll(Installation.command(arguments));
        return blackbox.start(new ProcessBuilder(command).redirectInput(new File("/dev/null")))
                .await();
    }
}
