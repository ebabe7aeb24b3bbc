package blackbox.vm.workspace;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.vm.Command;
import blackbox.vm.VmException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WorkspaceDiskTest {
    @TempDir
    Path folder;

    /// Names, links and modes that other archivers got wrong; bash creates them, because Java cannot express such
    /// names.
    static void makeOddTree(Path where) throws Exception {
        Files.createDirectories(where);
        String script = """
                mkdir -p 'a b/c' empty .hidden
                printf hello > 'a b/c/new
                line'
                printf x > $'inv\\xff\\xfealid'
                printf y > '-rf'
                printf z > 'ünï'
                printf '#!/bin/sh\\n' > run.sh; chmod 755 run.sh
                printf s > secret; chmod 600 secret
                long=$(printf 'n%.0s' $(seq 1 200)); printf l > "$long"
                mkdir -p "deep/$long/$long"; printf d > "deep/$long/$long/file"
                ln -s /etc/passwd absolute; ln -s ../outside outside; ln -s run.sh relative; ln -s nowhere dangling
                ln secret hard
                head -c 100000 /dev/zero > zeros
                touch -d '2001-02-03T04:05:06.123456789Z' old
                mkfifo pipe
                """;
        Command.of("bash", "-e", "-c", script).in(where).run();
    }

    /// All that is visible of a tree, one line per entry.
    static String describe(Path where) throws Exception {
        return Command.of(
                        "bash",
                        "-c",
                        "find . -mindepth 1 ! -type p -printf '%y %m %n %s %T@ %l %P\\n' | sort;"
                                + " find . -type f -print0 | sort -z | xargs -0 sha256sum")
                .in(where)
                .run()
                .replaceAll("(?m)^d (\\d+) \\d+ \\d+ ", "d $1 ");
    }

    @Test
    void oddNamesLinksModesAndTimesComeBack() throws Exception {
        Path from = folder.resolve("from");
        makeOddTree(from);
        var disk = WorkspaceDisk.create(folder.resolve("disk"));
        var archive = disk.pack(from);
        var unpacked = disk.unpack(archive.bytes(), folder.resolve("to"), TarFilter.Limits.DEFAULT);
        assertEquals(archive, unpacked.archive());
        assertEquals(1, unpacked.leftOut(), "the pipe");
        assertEquals(describe(from), describe(folder.resolve("to")));
    }

    @Test
    void theSameTreeGivesTheSameBytes() throws Exception {
        makeOddTree(folder.resolve("from"));
        var first = WorkspaceDisk.create(folder.resolve("one")).pack(folder.resolve("from"));
        var second = WorkspaceDisk.create(folder.resolve("two")).pack(folder.resolve("from"));
        assertEquals(first, second);
    }

    @Test
    void aMissingWorkspaceIsOneClearSentence() throws Exception {
        var disk = WorkspaceDisk.create(folder.resolve("disk"));
        var failure = assertThrows(VmException.class, () -> disk.pack(folder.resolve("none")));
        assertEquals(VmException.Code.WORKSPACE_UNREADABLE, failure.code());
        assertTrue(failure.getMessage().contains("is not a folder"), failure.getMessage());
    }

    @Test
    void aClaimedLengthBeyondTheDiskIsRefused() throws Exception {
        var disk = WorkspaceDisk.create(folder.resolve("disk"));
        for (long bytes : new long[] {-1, WorkspaceDisk.LENGTH_BYTES + 1}) {
            var failure = assertThrows(
                    VmException.class, () -> disk.unpack(bytes, folder.resolve("to"), TarFilter.Limits.DEFAULT));
            assertEquals(VmException.Code.WORKSPACE_REFUSED, failure.code());
        }
    }

    @Test
    void aFullDiskIsReportedAsSuch() throws Exception {
        Path small = Files.createDirectory(folder.resolve("small"));
        Command.of("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small.toString())
                .run();
        try {
            Path from = Files.createDirectory(folder.resolve("from"));
            Files.write(from.resolve("large"), "0123456789".repeat(20_000).getBytes(UTF_8));
            var disk = WorkspaceDisk.create(small.resolve("disk"));
            var failure = assertThrows(VmException.class, () -> disk.pack(from));
            assertEquals(VmException.Code.DISK_FULL, failure.code(), failure.getMessage());
        } finally {
            Command.of("umount", small.toString()).run();
        }
    }

    @Test
    void holesAreNotWrittenOut() throws Exception {
        Path from = Files.createDirectory(folder.resolve("sparse"));
        Command.of(
                        "sh",
                        "-euc",
                        "printf head > disk.img; truncate -s 3G disk.img; printf tail >> disk.img; mkfifo pipe")
                .in(from)
                .run();
        var disk = WorkspaceDisk.create(folder.resolve("disk"));
        var archive = disk.pack(from);
        assertTrue(archive.bytes() < 1 << 20, () -> archive.bytes() + " octets");
        assertEquals(
                archive, WorkspaceDisk.create(folder.resolve("again")).pack(from), "another process, other octets");
        // As the guest unpacks it.
        Path to = Files.createDirectory(folder.resolve("unpacked"));
        Path copy = folder.resolve("copy.tar");
        disk.copyOut(archive.bytes(), copy);
        Command.of("tar", "-x", "-p", "-f", copy.toString(), "-C", to.toString())
                .run();
        Command.of(
                        "cmp",
                        from.resolve("disk.img").toString(),
                        to.resolve("disk.img").toString())
                .run();
    }

    @Test
    void whatIsNotBroughtBackIsNamed() throws Exception {
        Path from = Files.createDirectory(folder.resolve("pipes"));
        Command.of("sh", "-euc", "for i in 1 2 3 4; do mkfifo pipe$i; done; mkfifo \"$(printf 'a\\033[1m')\"")
                .in(from)
                .run();
        var disk = WorkspaceDisk.create(folder.resolve("disk"));
        var unpacked = disk.unpack(disk.pack(from).bytes(), folder.resolve("back"), TarFilter.Limits.DEFAULT);
        assertEquals(
                "only files, folders and links are copied back; left out: 5 pipes or devices (a?[1m, pipe1, pipe2, …)",
                unpacked.notice());
    }
}
