package blackbox.vm.image;

import blackbox.schemas.Hash;
import blackbox.schemas.Progress;
import blackbox.vm.Command;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.image.ImageLock.LockedPackage;
import blackbox.vm.image.ImageLock.PackageUse;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Makes kernel, initrd base and root file system from archived packages alone. This is the only way a root is
/// made: a first build and the rebuild that `image verify` compares with are the same steps, with the network
/// off.
final class RootBuilder {
    /// The script that installs the packages; its comments say how.
    private static final String SCRIPT = "make-root.sh";

    private static final Duration TIMEOUT = Duration.ofMinutes(30);
    private static final List<String> EXCLUDED = List.of(
            // A scratch root is useless after a power cut anyway, and syncing every file takes minutes on a busy
            // disk.
            "force-unsafe-io",
            "path-exclude=/usr/share/man/*",
            "path-exclude=/usr/share/info/*",
            "path-exclude=/usr/share/locale/*",
            "path-exclude=/usr/share/lintian/*",
            "path-exclude=/usr/share/doc/*",
            "path-include=/usr/share/doc/*/copyright");

    private final ImageDefinition definition;
    private final ImageLock lock;
    private final PackageArchive archive;
    private final Path scratch;

    /// @param scratch an empty folder in which only root or this process writes
    RootBuilder(ImageDefinition definition, ImageLock lock, PackageArchive archive, Path scratch) {
        this.definition = definition;
        this.lock = lock;
        this.archive = archive;
        this.scratch = scratch;
    }

    /// Writes `vmlinuz`, `base.cpio` and `root.erofs` to `target`.
    void build(Path target, Progress progress) throws VmException {
        try {
            Path kernel = unpack("kernel", PackageUse.KERNEL);
            unpack("headers", PackageUse.HEADERS);
            String release = release(kernel);
            Files.copy(kernel.resolve("boot/vmlinuz-" + release), target.resolve("vmlinuz"));
            add(progress);
            progress.say("installing " + lock.packages(PackageUse.ROOT).size() + " packages");
            makeRoot(release);
            Files.write(target.resolve("base.cpio"), initrdBase(kernel.resolve("lib/modules/" + release)));
            Files.move(scratch.resolve("root.erofs"), target.resolve("root.erofs"));
        } catch (IOException e) {
            throw new VmException(Code.IO, "the image could not be assembled in " + scratch, e);
        }
    }

    /// Leaves what the definition adds in `added`, and in `commands` the names of the commands among it.
    private void add(Progress progress) throws IOException, VmException {
        ImageAdditions additions = definition.additions();
        if (additions != null) {
            Path root = Files.createDirectory(scratch.resolve("added"));
            var commands = new AddedTree(additions, archive, root).lay(scratch, progress);
            Files.writeString(scratch.resolve("commands"), String.join("\n", commands) + "\n");
        }
    }

    private Path unpack(String name, PackageUse use) throws VmException {
        Path folder = scratch.resolve(name);
        for (LockedPackage each : lock.packages(use)) {
            Path file = scratch.resolve(each.name() + ".deb");
            archive.copyTo(each.sha256(), file);
            Command.of("dpkg-deb", "-x", file.toString(), folder.toString())
                    .within(TIMEOUT)
                    .run();
        }
        return folder;
    }

    private static String release(Path kernel) throws IOException, VmException {
        try (Stream<Path> releases = Files.list(kernel.resolve("lib/modules"))) {
            return releases.map(folder -> String.valueOf(folder.getFileName()))
                    .findFirst()
                    .orElseThrow(() -> new VmException(Code.IMAGE_DEFINITION, "the kernel package has no modules"));
        }
    }

    /// Leaves `root.erofs` and `busybox` in the scratch folder.
    private void makeRoot(String release) throws IOException, VmException {
        repository();
        Path script = scratch.resolve(SCRIPT);
        Files.write(script, script());
        // Two roots with the same id are the same root.
        ImageAdditions additions = definition.additions();
        String contents = lock.packages() + (additions == null ? "" : additions.contents());
        UUID volume = UUID.nameUUIDFromBytes(contents.getBytes(StandardCharsets.UTF_8));
        var command = new ArrayList<>(List.of("sh", script.toString(), scratch.toString()));
        command.addAll(List.of(Long.toString(lock.epoch()), volume.toString(), release));
        command.add("--architectures=" + definition.architecture());
        command.add("--include="
                + lock.packages(PackageUse.ROOT).stream()
                        .map(LockedPackage::name)
                        .collect(Collectors.joining(",")));
        EXCLUDED.forEach(each -> command.add("--dpkgopt=" + each));
        command.add("--aptopt=APT::Install-Recommends \"false\"");
        // Java's packages cannot be installed without this folder, now or later in the guest: they put links there.
        command.add("--essential-hook=mkdir -p \"$1/usr/share/man/man1\"");
        BuildNamespace.command(command, TIMEOUT).run();
    }

    private static byte[] script() throws IOException {
        try (InputStream in = RootBuilder.class.getResourceAsStream("/blackbox/vm/images/" + SCRIPT)) {
            if (in == null) {
                throw new IllegalStateException("this build lacks " + SCRIPT);
            }
            return in.readAllBytes();
        }
    }

    /// A flat apt repository of the locked packages and nothing else.
    private void repository() throws IOException, VmException {
        Path folder = Files.createDirectory(scratch.resolve("repository"));
        var index = new StringBuilder();
        for (LockedPackage each : lock.packages(PackageUse.ROOT)) {
            Path file = folder.resolve(each.sha256() + ".deb");
            archive.copyTo(each.sha256(), file);
            index.append(Command.of("dpkg-deb", "-f", file.toString()).run().stripTrailing())
                    .append("\nFilename: ./")
                    .append(file.getFileName())
                    .append("\nSize: ")
                    .append(each.bytes())
                    .append("\nSHA256: ")
                    .append(each.sha256())
                    .append("\n\n");
        }
        byte[] packages = index.toString().getBytes(StandardCharsets.UTF_8);
        Files.write(folder.resolve("Packages"), packages);
        Files.writeString(
                folder.resolve("Release"),
                "Suite: " + definition.suite() + "\nCodename: " + definition.suite() + "\nArchitectures: "
                        + definition.architecture()
                        + "\nComponents: main\nDate: Thu, 01 Jan 1970 00:00:00 UTC\nSHA256:\n "
                        + Hash.sha256(packages) + " " + packages.length + " Packages\n");
    }

    private byte[] initrdBase(Path modules) throws IOException, VmException {
        var loaded = new KernelModules(modules).withDependencies(definition.modules());
        var cpio = new Cpio();
        for (String folder : List.of("bin", "dev", "modules")) {
            cpio.directory(folder);
        }
        cpio.characterDevice("dev/console", 0600, 5, 1);
        cpio.file("bin/busybox", 0755, Files.readAllBytes(scratch.resolve("busybox")));
        for (var module : loaded.entrySet()) {
            cpio.file("modules/" + module.getKey(), 0644, module.getValue());
        }
        cpio.file("modules/order", 0644, (String.join("\n", loaded.keySet()) + "\n").getBytes(StandardCharsets.UTF_8));
        return cpio.finish();
    }
}
