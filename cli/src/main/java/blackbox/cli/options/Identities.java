package blackbox.cli.options;

import blackbox.cli.exit.CommandException;
import blackbox.evidence.sign.CryptoProvider;
import blackbox.vault.age.AgeIdentity;
import blackbox.vault.age.AgePassphrase;
import blackbox.vault.age.AgeRecipient;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;

/// The files with keys and passphrases that exported runs are encrypted to and opened with, in the forms of age.
public final class Identities {

    private static final int BYTES_MAX = 64 << 10;
    private static final int PASSPHRASE_BYTES_MAX = 1_024;
    private static final String RECIPIENT = "age1";

    private Identities() {}

    /// Makes an identity in a new file, and returns its public key.
    public static String create(Path file) throws IOException {
        AgeIdentity identity = AgeIdentity.create(CryptoProvider.current().random());
        String text = "# public key: " + identity.recipient() + "\n" + identity.text() + "\n";
        try {
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        } catch (FileAlreadyExistsException _) {
            throw CommandException.badInput(file + " already exists; choose another file with --out");
        }
        Files.writeString(file, text);
        return identity.recipient().toString();
    }

    /// The identity in a file, with or without lines of comments.
    public static AgeIdentity read(Path file) {
        List<String> lines = lines(file, "an identity");
        if (lines.size() != 1) {
            throw CommandException.badInput(
                    "there is not one identity in " + file + ": `blackbox keys identity --out FILE`" + " makes one");
        }
        try {
            return AgeIdentity.parse(lines.getFirst());
        } catch (IllegalArgumentException e) {
            throw CommandException.badInput("there is no identity in " + file + ": " + e.getMessage());
        }
    }

    /// The public keys that a word means: one that begins with `age1`, or a file of them.
    static List<AgeRecipient> recipients(String word) {
        List<String> keys = word.startsWith(RECIPIENT) ? List.of(word) : lines(Path.of(word), "public keys");
        if (keys.isEmpty()) {
            throw CommandException.badInput("there is no public key in " + word);
        }
        try {
            return keys.stream().map(AgeRecipient::parse).toList();
        } catch (IllegalArgumentException e) {
            throw CommandException.badInput(
                    "'" + word + "' is neither a public key nor a file of such: " + e.getMessage());
        }
    }

    private static List<String> lines(Path file, String what) {
        return new String(octets(file, what, BYTES_MAX), StandardCharsets.UTF_8)
                .lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .toList();
    }

    /// The passphrase in a file: its octets, without one line end.
    public static AgePassphrase passphrase(Path file) {
        byte[] octets = octets(file, "a passphrase", PASSPHRASE_BYTES_MAX);
        int length = octets.length;
        length -= length > 0 && octets[length - 1] == '\n' ? 1 : 0;
        length -= length > 0 && octets[length - 1] == '\r' ? 1 : 0;
        if (length == 0) {
            throw CommandException.badInput("the passphrase in " + file + " is empty");
        }
        return new AgePassphrase(Arrays.copyOf(octets, length));
    }

    private static byte[] octets(Path file, String what, int most) {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] octets = in.readNBytes(most + 1);
            if (octets.length <= most) {
                return octets;
            }
        } catch (IOException e) {
            throw CommandException.badInput("cannot read " + what + " from " + file + ": " + e.getMessage());
        }
        throw CommandException.badInput(file + " is longer than " + most + " octets, and so does not hold " + what);
    }
}
