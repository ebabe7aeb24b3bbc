package blackbox.node.egress;

import blackbox.gateway.secret.SecretValue;
import blackbox.policy.SecretSource;
import blackbox.recorder.keys.SecretFile;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Reads the values of secrets from where they are. No message has anything of one.
final class SecretReading {
    /// A person may have to unlock a store of passwords.
    private static final Duration COMMAND_MAX = Duration.ofSeconds(60);

    /// A line feed, a carriage return before it, and one more octet to see that there are too many.
    private static final int READ_BYTES_MAX = SecretValue.OCTETS_MAX + 3;

    private static final Set<PosixFilePermission> OF_OTHERS = EnumSet.complementOf(EnumSet.of(
            PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE));

    private final Function<String, byte @Nullable []> environment;
    private final Duration commandMax;

    /// @param environment a variable's value by its name, a copy that is cleared; null if it is not set
    SecretReading(Function<String, byte @Nullable []> environment) {
        this(environment, COMMAND_MAX);
    }

    SecretReading(Function<String, byte @Nullable []> environment, Duration commandMax) {
        this.environment = environment;
        this.commandMax = commandMax;
    }

    /// The value, without one line feed at its end.
    ///
    /// @throws IOException with a clause that says why there is none
    SecretValue read(SecretSource source) throws IOException, InterruptedException {
        byte[] octets = switch (source) {
            case SecretSource.File file -> file(Path.of(file.path()));
            case SecretSource.Variable variable -> variable(variable.name());
            case SecretSource.Command command -> command(command.argv());
        };
        try {
            return new SecretValue(source instanceof SecretSource.Variable ? octets : withoutLineEnd(octets));
        } catch (IllegalArgumentException e) {
            throw new IOException(where(source) + ": " + e.getMessage(), e);
        }
    }

    private static String where(SecretSource source) {
        return switch (source) {
            case SecretSource.File file -> "the file " + file.path();
            case SecretSource.Variable variable -> "the variable " + variable.name();
            case SecretSource.Command command -> "what " + command.argv().getFirst() + " prints";
        };
    }

    private static byte[] withoutLineEnd(byte[] octets) {
        int length = octets.length;
        if (length > 0 && octets[length - 1] == '\n') {
            length--;
            if (length > 0 && octets[length - 1] == '\r') {
                length--;
            }
        }
        byte[] line = Arrays.copyOf(octets, length);
        Arrays.fill(octets, (byte) 0);
        return line;
    }

    private byte[] variable(String name) throws IOException {
        byte[] value = environment.apply(name);
        if (value == null) {
            throw new IOException("the variable " + name + " is not set here");
        }
        return value;
    }

    private static byte[] file(Path file) throws IOException {
        try {
            if (!Files.isRegularFile(file)) {
                throw new IOException(
                        "the file " + file + (Files.exists(file) ? " is no regular file" : " does not exist"));
            }
            Set<PosixFilePermission> given = EnumSet.copyOf(OF_OTHERS);
            given.retainAll(Files.getPosixFilePermissions(file));
            if (!given.isEmpty()) {
                throw new IOException("the file " + file + " can be used by others than its owner: chmod 600 " + file
                        + ", and consider who may have read it");
            }
            return SecretFile.octets(file);
        } catch (NoSuchFileException e) {
            throw new IOException("the file " + file + " does not exist", e);
        }
    }

    private byte[] command(List<String> argv) throws IOException, InterruptedException {
        String name = argv.getFirst();
        Process process;
        try {
            process = new ProcessBuilder(argv)
                    .redirectInput(new File("/dev/null"))
                    .redirectError(ProcessBuilder.Redirect.DISCARD) // it may have the value in it
                    .start();
        } catch (IOException e) {
            throw new IOException("the command " + name + " cannot be run: " + e.getMessage(), e);
        }
        try {
            CompletableFuture<byte[]> printed = reading(process.getInputStream(), READ_BYTES_MAX);
            byte[] octets = printed.get(commandMax.toMillis(), TimeUnit.MILLISECONDS);
            if (octets.length == READ_BYTES_MAX) {
                Arrays.fill(octets, (byte) 0);
                throw new IOException("the command " + name + " prints more than the " + SecretValue.OCTETS_MAX
                        + " octets of a secret");
            }
            if (!process.waitFor(commandMax.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new TimeoutException();
            }
            if (process.exitValue() != 0) {
                Arrays.fill(octets, (byte) 0);
                throw new IOException(
                        "the command " + name + " failed with exit code " + process.exitValue()
                                + "; what it says is not shown, since the secret may be in it: run it in a terminal to see why");
            }
            return octets;
        } catch (TimeoutException e) {
            throw new IOException(
                    "the command " + name + " has not ended within " + commandMax.toSeconds() + " seconds", e);
        } catch (ExecutionException e) {
            throw new IOException("what the command " + name + " prints cannot be read", e);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    private static CompletableFuture<byte[]> reading(InputStream in, int most) {
        var read = new CompletableFuture<byte[]>();
        // A platform thread: reading a pipe would pin the carrier of a virtual one.
        Thread.ofPlatform().daemon().name("secret-command").start(() -> {
            try {
                read.complete(in.readNBytes(most));
                in.transferTo(OutputStream.nullOutputStream()); // or it would wait for somebody to read the rest
            } catch (IOException e) {
                read.completeExceptionally(e);
            }
        });
        return read;
    }
}
