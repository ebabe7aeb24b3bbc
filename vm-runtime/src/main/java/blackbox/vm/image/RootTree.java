package blackbox.vm.image;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;

/// The installed root's last changes: what differs from build to build goes out, what our guest needs comes in.
final class RootTree {
    private static final int AGENT = 1000;

    private final Path root;

    RootTree(Path root) {
        this.root = root;
    }

    void finish(Path headers, String release) throws IOException {
        removeVolatile();
        nameTheMachine();
        addAgent();
        addHeaders(headers, release);
        directory("workspace", AGENT, "rwxr-xr-x");
    }

    private void removeVolatile() throws IOException {
        clear("var/log");
        clear("var/cache");
        clear("var/lib/apt/lists");
        clear("tmp");
        clear("run");
        for (String file :
                List.of("etc/machine-id", "etc/apt/sources.list", "var/lib/dpkg/lock", "var/lib/dpkg/lock-frontend")) {
            Files.deleteIfExists(root.resolve(file));
        }
        removeBackups(root.resolve("etc"), "-");
        removeBackups(root.resolve("var/lib/dpkg"), "-old");
        for (String folder : List.of("var/cache/apt/archives/partial", "var/lib/apt/lists/partial", "var/log/apt")) {
            Files.createDirectories(root.resolve(folder));
        }
    }

    private void nameTheMachine() throws IOException {
        Files.writeString(root.resolve("etc/hostname"), "blackbox\n");
        Files.writeString(root.resolve("etc/hosts"), "127.0.0.1 localhost blackbox\n::1 localhost\n");
        Files.deleteIfExists(root.resolve("etc/resolv.conf"));
        Files.writeString(root.resolve("etc/resolv.conf"), "nameserver 10.0.2.3\n");
    }

    /// The agent's account; useradd would need the machine's time and a shell.
    private void addAgent() throws IOException {
        append("etc/passwd", "agent:x:" + AGENT + ":" + AGENT + "::/home/agent:/bin/bash\n");
        append("etc/group", "agent:x:" + AGENT + ":\n");
        append("etc/shadow", "agent:!:1:0:99999:7:::\n");
        append("etc/gshadow", "agent:!::\n");
        Path home = directory("home/agent", AGENT, "rwxr-xr-x");
        try (Stream<Path> skeleton = Files.list(root.resolve("etc/skel"))) {
            for (Path file : skeleton.filter(Files::isRegularFile).toList()) {
                own(Files.copy(file, home.resolve(file.getFileName())), AGENT);
            }
        }
    }

    /// The tracer's compiler needs the kernel's include folders and nothing else of its headers.
    private void addHeaders(Path unpacked, String release) throws IOException {
        Path sources = unpacked.resolve("usr/src");
        Path target = Files.createDirectories(root.resolve("usr/src"));
        Path links = Files.createDirectories(root.resolve("usr/lib/modules/" + release));
        try (Stream<Path> packages = Files.list(sources)) {
            for (Path each : packages.filter(Files::isDirectory).toList()) {
                String name = each.getFileName().toString();
                if (name.startsWith("linux-headers-")) {
                    copy(each.resolve("include"), target.resolve(name).resolve("include"));
                    copy(each.resolve("arch/x86/include"), target.resolve(name).resolve("arch/x86/include"));
                    String link = name.endsWith("-common") ? "source" : "build";
                    Files.createSymbolicLink(links.resolve(link), Path.of("/usr/src/" + name));
                }
            }
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        if (!Files.isDirectory(from)) {
            return;
        }
        Files.createDirectories(to.getParent());
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : all.sorted().toList()) {
                Files.copy(each, to.resolve(from.relativize(each)), LinkOption.NOFOLLOW_LINKS);
            }
        }
    }

    private Path directory(String name, int owner, String permissions) throws IOException {
        Path folder = Files.createDirectories(root.resolve(name));
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString(permissions));
        own(folder, owner);
        return folder;
    }

    private static void own(Path file, int owner) throws IOException {
        Files.setAttribute(file, "unix:uid", owner, LinkOption.NOFOLLOW_LINKS);
        Files.setAttribute(file, "unix:gid", owner, LinkOption.NOFOLLOW_LINKS);
    }

    private void append(String file, String line) throws IOException {
        Files.writeString(root.resolve(file), line, StandardOpenOption.APPEND);
    }

    private void clear(String folder) throws IOException {
        Path below = root.resolve(folder);
        try (Stream<Path> all = Files.walk(below)) {
            for (Path each : all.sorted(java.util.Comparator.reverseOrder()).toList()) {
                if (!each.equals(below)) {
                    Files.delete(each);
                }
            }
        }
    }

    private static void removeBackups(Path folder, String suffix) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            for (Path each : all.filter(f -> f.toString().endsWith(suffix)).toList()) {
                Files.delete(each);
            }
        }
    }
}
