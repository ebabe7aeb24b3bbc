package blackbox.vm.image;

import blackbox.schemas.Progress;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.image.ImageAdditions.AddedFile;
import blackbox.vm.image.ImageAdditions.AddedPackage;
import blackbox.vm.npm.NpmArchive;
import blackbox.vm.npm.NpmPackage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/// Lays out what a definition adds as it will be in the root, from the archive alone: npm packages as the
/// lock's paths have them below `/opt/npm`, their commands as links, files, and the agent's environment.
/// Folders get their modes from `make-root.sh`.
final class AddedTree {
    /// Where the lock's tree is, in the root.
    private static final String NPM = "opt/npm";

    private static final String COMMANDS = "usr/local/bin";
    /// The agent's variables, `NAME=value`, each ended by a NUL; `agent.py` reads it.
    private static final String ENVIRONMENT = "etc/blackbox/environment";

    private final ImageAdditions additions;
    private final PackageArchive archive;
    private final Path root;

    /// @param root an empty folder
    AddedTree(ImageAdditions additions, PackageArchive archive, Path root) {
        this.additions = additions;
        this.archive = archive;
        this.root = root;
    }

    /// @param scratch for the archive that is just unpacked
    /// @return the names of the commands that the agent finds on its `PATH`
    Set<String> lay(Path scratch, Progress progress) throws VmException {
        try {
            if (!additions.npm().isEmpty()) {
                progress.say("unpacking " + additions.npm().size() + " npm packages; no install script is run");
            }
            for (AddedPackage each : additions.npm()) {
                unpack(each, scratch.resolve("package.tgz"));
            }
            Set<String> commands = new TreeSet<>();
            var linked = new HashSet<Path>();
            for (AddedPackage each : additions.npm()) {
                commands(each.npm(), linked, commands, progress);
            }
            for (AddedFile each : additions.files()) {
                file(each);
            }
            environment();
            return commands;
        } catch (IOException e) {
            throw new VmException(Code.IO, "what the definition adds could not be written to " + root, e);
        }
    }

    private void unpack(AddedPackage added, Path file) throws IOException, VmException {
        archive.copyTo(added.object().sha256(), file);
        if (!added.npm().isIn(file)) {
            throw new VmException(
                    Code.IMAGE_CORRUPT,
                    "the archived npm package " + added.npm().spec()
                            + " is not the one of the lock; build the image again");
        }
        Path folder = root.resolve(NPM).resolve(added.npm().path());
        if (Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
            throw new VmException(
                    Code.PACKAGE_REFUSED,
                    added.npm().path() + " is in the lock, and in the archive of the package above it, too");
        }
        NpmArchive.unpack(added.npm(), file, folder);
        Files.delete(file);
    }

    /// As npm links them: each beside its package, those that were asked for on the `PATH`. Of two beside
    /// each other with the same name the first one's path decides.
    private void commands(NpmPackage each, Set<Path> linked, Set<String> onPath, Progress progress)
            throws IOException, VmException {
        Path folder = root.resolve(NPM).resolve(each.path());
        for (Map.Entry<String, String> command : each.bin().entrySet()) {
            Path program = folder.resolve(command.getValue());
            if (!Files.isRegularFile(program, LinkOption.NOFOLLOW_LINKS)) {
                progress.say(each.spec() + " has no " + command.getValue() + ", so its command '" + command.getKey()
                        + "' is left out");
                continue;
            }
            Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
            Path beside = root.resolve(NPM)
                    .resolve(each.path()
                            .substring(0, each.path().lastIndexOf("node_modules/") + "node_modules".length()));
            if (linked.add(beside.resolve(command.getKey()))) {
                link(beside.resolve(".bin"), command.getKey(), program, each);
            }
            if (each.direct()) {
                if (!onPath.add(command.getKey())) {
                    throw new VmException(
                            Code.PACKAGE_REFUSED,
                            "two of the npm packages bring a command '" + command.getKey() + "'; leave one out");
                }
                link(root.resolve(COMMANDS), command.getKey(), program, each);
            }
        }
    }

    private static void link(Path folder, String name, Path program, NpmPackage of) throws IOException, VmException {
        Files.createDirectories(folder);
        try {
            Files.createSymbolicLink(folder.resolve(name), folder.relativize(program));
        } catch (FileAlreadyExistsException e) {
            throw new VmException(Code.PACKAGE_REFUSED, of.spec() + " has a file where a link to its command goes", e);
        }
    }

    private void file(AddedFile file) throws IOException, VmException {
        Path place = root.resolve(file.path().substring(1));
        Files.createDirectories(place.getParent());
        if (Files.exists(place, LinkOption.NOFOLLOW_LINKS)) {
            throw new VmException(
                    Code.IMAGE_DEFINITION,
                    "the definition puts two things at " + file.path() + ", one of them an npm package's command");
        }
        archive.copyTo(file.object().sha256(), place);
        Files.setPosixFilePermissions(place, permissions(file.mode()));
    }

    private void environment() throws IOException {
        if (additions.environment().isEmpty()) {
            return;
        }
        var text = new StringBuilder();
        additions
                .environment()
                .forEach((name, value) ->
                        text.append(name).append('=').append(value).append('\0'));
        Path place = root.resolve(ENVIRONMENT);
        Files.createDirectories(place.getParent());
        Files.write(place, text.toString().getBytes(StandardCharsets.UTF_8));
        Files.setPosixFilePermissions(place, permissions("0644"));
    }

    private static Set<PosixFilePermission> permissions(String mode) {
        int bits = Integer.parseInt(mode, 8);
        var permissions = new HashSet<PosixFilePermission>();
        PosixFilePermission[] all = PosixFilePermission.values(); // from the owner's read to the others' execute
        for (int i = 0; i < all.length; i++) {
            if ((bits & 0400 >> i) != 0) {
                permissions.add(all[i]);
            }
        }
        return permissions;
    }
}
