package blackbox.node.serve;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Set;

/// The secret that callers of the API present, stored in a file of mode 0600.
public final class ApiToken {

    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rw-------");
    private static final int RANDOM_BYTES = 32;
    private static final int CHARS_MIN = 32;

    private final byte[] octets;

    private ApiToken(String token) {
        octets = token.getBytes(StandardCharsets.UTF_8);
    }

    /// Reads the token in `file`, or creates one.
    ///
    /// @throws IOException when the file cannot be read or created, is too short, or is readable by others
    public static ApiToken loadOrCreate(Path file, SecureRandom random) throws IOException {
        var fresh = new byte[RANDOM_BYTES];
        random.nextBytes(fresh);
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            Files.createFile(file, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
            Files.writeString(file, Base64.getUrlEncoder().withoutPadding().encodeToString(fresh) + "\n");
        } catch (FileAlreadyExistsException e) {
            if (!Files.getPosixFilePermissions(file).equals(OWNER_ONLY)) {
                throw new IOException(
                        "the token file " + file + " must be readable by its owner alone: run chmod 600 on it, "
                                + "or delete it to get a new one",
                        e);
            }
        }
        String token = Files.readString(file).strip();
        if (token.length() < CHARS_MIN) {
            throw new IOException("the token in " + file + " is too short; delete it to get a new one");
        }
        return new ApiToken(token);
    }

    /// Whether `header`, an `Authorization` header, carries the token. Takes equally long for every wrong
    /// token.
    boolean isCarriedBy(String header) {
        int space = header.indexOf(' ');
        boolean bearer = space > 0 && header.substring(0, space).equalsIgnoreCase("Bearer");
        byte[] given = bearer ? header.substring(space + 1).strip().getBytes(StandardCharsets.UTF_8) : new byte[0];
        return MessageDigest.isEqual(octets, given);
    }
}
