package blackbox.node.access;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/// The data folder's own secret, with which callers of the API may do everything, in a file of mode 0600, which
/// is read again whenever it has changed.
public final class ApiToken {
    private static final int RANDOM_BYTES = 32;
    private static final int CHARS_MIN = 32;

    private final Path file;
    private @Nullable FileStamp stamp;
    private byte[] octets = new byte[0];

    private ApiToken(Path file) {
        this.file = file;
    }

    /// Reads the token in `file`, or creates one.
    ///
    /// @throws IOException when the file cannot be read or created, is too short, or is readable by others
    public static ApiToken loadOrCreate(Path file, SecureRandom random) throws IOException {
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            Files.createFile(file, PosixFilePermissions.asFileAttribute(FileStamp.OWNER_ONLY));
            Files.writeString(file, fresh(random) + "\n");
        } catch (FileAlreadyExistsException _) {
            // it is read below
        }
        var token = new ApiToken(file);
        token.read();
        return token;
    }

    /// A secret nobody has seen, in letters that a URL may have.
    static String fresh(SecureRandom random) {
        var fresh = new byte[RANDOM_BYTES];
        random.nextBytes(fresh);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(fresh);
    }

    private void read() throws IOException {
        FileStamp found = FileStamp.of(file);
        if (found != null && found.equals(stamp)) {
            return;
        }
        octets = new byte[0];
        stamp = found;
        FileStamp.requireOwnerOnly(file);
        String token = Files.readString(file).strip();
        if (token.length() < CHARS_MIN) {
            throw new IOException("the token in " + file + " is too short; delete it to get a new one");
        }
        octets = token.getBytes(StandardCharsets.UTF_8);
    }

    /// Whether this is the token that the file has now. Takes equally long for every wrong one.
    synchronized boolean is(String given) {
        try {
            read();
        } catch (IOException e) {
            return false; // nobody knows whose it is
        }
        return octets.length > 0 && MessageDigest.isEqual(octets, given.getBytes(StandardCharsets.UTF_8));
    }

    /// The text without the token.
    synchronized String redact(String text) {
        String token = new String(octets, StandardCharsets.UTF_8);
        return token.isEmpty() ? text : text.replace(token, ApiTokens.REDACTED);
    }

    @Override
    public String toString() {
        return "the token in " + file;
    }
}
