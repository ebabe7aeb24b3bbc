package blackbox.cli;

import blackbox.vm.Command;
import blackbox.vm.VmException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// An unprivileged user to run `./blackbox` as: one created for the test if the test runs as root, otherwise
/// whoever runs it. It has a home of its own whose path has a space, a comma, both quotes and an ü, the C
/// locale, and the `PATH` that Debian gives to users. It runs what `make build` built.
///
/// One thread. Closing it deletes the user and the home.
public final class OrdinaryUser implements AutoCloseable {
    private static final String PREFIX = "bb-test-";
    private static final Duration COPY_TIMEOUT = Duration.ofMinutes(10);
    private static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();

    private final Path folder;
    private final boolean made;

    private OrdinaryUser(Path folder, boolean made) {
        this.folder = folder;
        this.made = made;
    }

    /// Creates the user, if that is possible, and the home.
    public static OrdinaryUser make() throws IOException, VmException {
        boolean root = "root".equals(System.getProperty("user.name"));
        // Not JUnit's folder, which only its owner may enter.
        Path folder = forAll(Files.createTempDirectory(PREFIX));
        var user = new OrdinaryUser(folder, root);
        Files.createDirectory(user.home());
        if (root) {
            forAll(Files.createDirectory(user.project()));
            Command.of("useradd", "--no-create-home", "--home-dir", user.home().toString(), user.name())
                    .run();
            user.own(user.home());
        }
        return user;
    }

    /// Lets everybody in, whatever the umask: a command that ran in this process has set it to its own.
    private static Path forAll(Path folder) throws IOException {
        return Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /// Its account's name.
    public String name() {
        return made ? PREFIX + ProcessHandle.current().pid() : System.getProperty("user.name");
    }

    /// Its home: everything below is its own.
    public Path home() {
        return folder.resolve("it's a \"home\", ü");
    }

    /// Where its data folder will be.
    public Path data() {
        return home().resolve("data");
    }

    /// The project as this user sees it, who may not be able to enter the folder where it really is.
    private Path project() {
        return made ? folder.resolve("project") : PROJECT;
    }

    /// Copies `source` into the home, owned by this user; returns the copy's path.
    public Path give(Path source, String name) throws VmException {
        Path target = home().resolve(name);
        Command.of("mkdir", "-p", String.valueOf(target.getParent())).run();
        Command.of("cp", "-a", "--reflink=auto", source + "/.", target.toString())
                .within(COPY_TIMEOUT)
                .run();
        own(home());
        return target;
    }

    private void own(Path what) throws VmException {
        if (made) {
            Command.of("chown", "-R", name() + ":" + name(), what.toString())
                    .within(COPY_TIMEOUT)
                    .run();
        }
    }

    /// `./blackbox` with these arguments, in the home.
    public ProcessBuilder blackbox(String... arguments) {
        return command(
                Stream.concat(Stream.of(launcher()), Stream.of(arguments)).toArray(String[]::new));
    }

    /// The launcher's path, for scripts that this user runs.
    public String launcher() {
        return project().resolve("blackbox").toString();
    }

    /// The built program with the tests' classes, as a class path that this user can read.
    public String classPath() {
        Path target = project().resolve("cli/target");
        return target.resolve("blackbox-cli-0.1.0.jar") + File.pathSeparator + target.resolve("test-classes");
    }

    /// Any program, run in the home. It inherits nothing of this process's environment.
    public ProcessBuilder command(String... argv) {
        var command = new ArrayList<String>();
        if (made) {
            String mounted = "mount --bind \"$1\" \"$2\"; cd \"$3\"; shift 3; exec \"$@\"";
            command.addAll(List.of("unshare", "--mount", "sh", "-euc", mounted, "sh"));
            command.addAll(List.of(PROJECT.toString(), project().toString(), home().toString()));
            command.addAll(List.of("setpriv", "--reuid=" + name(), "--regid=" + name(), "--clear-groups"));
        }
        command.addAll(List.of("env", "-i", "HOME=" + home(), "USER=" + name(), "LC_ALL=C"));
        command.addAll(List.of("PATH=/usr/local/bin:/usr/bin:/bin", "JAVA_HOME=" + System.getProperty("java.home")));
        command.add("BLACKBOX_DATA=" + data());
        command.addAll(List.of(argv));
        return new ProcessBuilder(command).directory(home().toFile()).redirectInput(new File("/dev/null"));
    }

    /// How a program ended, and all that it printed on both of its outputs.
    public record Ended(int exitCode, String said) {}

    /// Runs it to its end.
    public Ended run(ProcessBuilder builder, Duration patience) throws IOException, InterruptedException {
        Path said = Files.createTempFile(folder, "said", ".txt");
        Process process =
                builder.redirectErrorStream(true).redirectOutput(said.toFile()).start();
        boolean ended = process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS);
        if (!ended) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
        String text = Files.readString(said);
        if (!ended) {
            throw new AssertionError("the command did not end; it said:\n" + text);
        }
        return new Ended(process.exitValue(), text);
    }

    @Override
    public void close() throws VmException {
        Command.of("rm", "-rf", "--one-file-system", folder.toString())
                .within(COPY_TIMEOUT)
                .run();
        if (made) {
            Command.of("userdel", name()).run();
        }
    }
}
