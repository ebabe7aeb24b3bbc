package blackbox.recorder.keys;

import blackbox.recorder.RecorderException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// A TPM 2.0, used through the programs of tpm2-tools, with a temporary folder for the files that they
/// exchange. Used by one thread at a time. `docs/decisions/0051` says why it is programs and not a library.
///
/// What a program leaves in the TPM is flushed after it: a TPM without a resource manager holds only three
/// objects.
final class TpmTools implements AutoCloseable {

    private static final int SECONDS_MAX = 60;
    private static final String PRIMARY = "primary.ctx";
    private static final String KEY = "key.ctx";

    private final Path work;
    private final String tcti;
    private Blobs loaded = new Blobs(new byte[0], new byte[0]);

    /// A key as the TPM exports it: its public part, and its private part encrypted to this TPM.
    record Blobs(byte[] publicBlob, byte[] privateBlob) {}

    private TpmTools(Path work, String tcti) {
        this.work = work;
        this.tcti = tcti;
    }

    /// Derives the owner hierarchy's primary key, which is always the same.
    ///
    /// @param folder where the temporary folder is created; [#close] deletes it
    static TpmTools open(Path folder, String tcti) throws IOException {
        Path work = Files.createTempDirectory(
                folder, ".tpm", PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        var tools = new TpmTools(work, tcti);
        try {
            tools.derivePrimary();
            return tools;
        } catch (IOException | RuntimeException e) {
            tools.close();
            throw e;
        }
    }

    private void derivePrimary() throws IOException {
        run("tpm2_createprimary", "-C", "o", "-G", "ecc", "-c", PRIMARY);
    }

    /// Creates a key.
    Blobs create() throws IOException {
        String attributes = "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|sign";
        run("tpm2_create", "-C", PRIMARY, "-G", "ecc256", "-a", attributes, "-u", "new.pub", "-r", "new.priv");
        return new Blobs(Files.readAllBytes(work.resolve("new.pub")), Files.readAllBytes(work.resolve("new.priv")));
    }

    /// Loads a key, which [#sign] then uses.
    ///
    /// @return its public key as the DER of a SubjectPublicKeyInfo
    byte[] load(Blobs blobs) throws IOException {
        Files.write(work.resolve("key.pub"), blobs.publicBlob());
        Files.write(work.resolve("key.priv"), blobs.privateBlob());
        run("tpm2_load", "-C", PRIMARY, "-u", "key.pub", "-r", "key.priv", "-c", KEY);
        run("tpm2_readpublic", "-c", KEY, "-f", "der", "-o", "key.der");
        loaded = blobs;
        return Files.readAllBytes(work.resolve("key.der"));
    }

    /// The DER signature over a SHA-256 digest. Saved contexts do not survive a reset of the TPM; then they
    /// are created again, once.
    byte[] sign(byte[] digest) throws RecorderException {
        try {
            Files.write(work.resolve("digest"), digest);
            try {
                return signLoaded();
            } catch (IOException e) {
                derivePrimary();
                load(loaded);
                return signLoaded();
            }
        } catch (IOException e) {
            throw LogKeyStore.failed("the TPM did not sign", e);
        }
    }

    private byte[] signLoaded() throws IOException {
        run("tpm2_sign", "-c", KEY, "-g", "sha256", "-s", "ecdsa", "-d", "-f", "plain", "-o", "signature", "digest");
        return Files.readAllBytes(work.resolve("signature"));
    }

    private void run(String program, String... arguments) throws IOException {
        var command = new ArrayList<>(List.of(program, "-T", tcti));
        if (!program.equals("tpm2_flushcontext")) {
            command.add("-Q");
        }
        command.addAll(List.of(arguments));
        String said = start(command);
        if (!program.equals("tpm2_flushcontext")) {
            run("tpm2_flushcontext", "-t");
        }
        if (!said.isEmpty()) {
            throw new IOException(program + ": " + said);
        }
    }

    /// Runs it to its end.
    ///
    /// @return its error message if it failed; otherwise empty
    private String start(List<String> command) throws IOException {
        Process process;
        Path output = work.resolve("output");
        try {
            process = new ProcessBuilder(command)
                    .directory(work.toFile())
                    .redirectInput(
                            ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
        } catch (IOException e) {
            throw new IOException(command.getFirst() + " cannot be run; it is in the package tpm2-tools", e);
        }
        try {
            if (!process.waitFor(SECONDS_MAX, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                return "no answer within " + SECONDS_MAX + " s";
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            return "interrupted";
        }
        return process.exitValue() == 0 ? "" : lastError(Files.readString(output, StandardCharsets.UTF_8));
    }

    /// The programs report from the inside out; the first line is the TPM's own message.
    private static String lastError(String output) {
        return output.lines()
                .filter(line -> line.startsWith("ERROR: "))
                .findFirst()
                .map(line -> line.substring("ERROR: ".length()))
                .orElse(output.isBlank() ? "it failed without a message" : output.strip());
    }

    @Override
    public void close() throws IOException {
        try (Stream<Path> files = Files.list(work)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(work);
    }
}
