package blackbox.vm.npm;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Collections;
import java.util.HexFormat;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/// One package as a lock has it.
///
/// @param path where it goes: `node_modules/NAME`, or below another package
/// @param name with its scope
/// @param integrity `sha512-` and the SHA-512 of its archive in base64
/// @param bin commands that it brings: name → path within the package
/// @param direct whether the lock's root asks for it: its commands are on the agent's `PATH`
/// @param scriptsLeftOut whether it may be used although it has install scripts, which are never run
public record NpmPackage(
        String path,
        String name,
        String version,
        String integrity,
        SortedMap<String, String> bin,
        boolean direct,
        boolean scriptsLeftOut) {
    private static final String PART = "[a-zA-Z0-9_~-][a-zA-Z0-9._~-]{0,213}";
    static final String NAME = "(?:@" + PART + "/)?" + PART;
    private static final Pattern NAMED = Pattern.compile(NAME);
    private static final Pattern PLACED = Pattern.compile("node_modules/" + NAME + "(?:/node_modules/" + NAME + ")*");
    private static final Pattern VERSION = Pattern.compile("[0-9][0-9A-Za-z.+-]{0,127}");
    private static final Pattern COMMAND = Pattern.compile("[a-zA-Z0-9_][a-zA-Z0-9._+-]{0,100}");
    private static final String ALGORITHM = "sha512-";
    private static final int DIGEST_BYTES = 64;
    private static final int CHUNK_BYTES = 1 << 16;

    public NpmPackage {
        bin = Collections.unmodifiableSortedMap(new TreeMap<>(bin));
        require(PLACED.matcher(path).matches(), "'" + path + "' is not a place below node_modules");
        // A leading dash would be an option of npm's.
        require(
                NAMED.matcher(name).matches() && !name.startsWith("-"),
                path + ": '" + name + "' is not the name of a package");
        require(VERSION.matcher(version).matches(), path + ": '" + version + "' is not a version");
        require(isSha512(integrity), path + ": '" + integrity + "' is not a SHA-512");
        for (Map.Entry<String, String> each : bin.entrySet()) {
            require(
                    COMMAND.matcher(each.getKey()).matches(),
                    path + ": '" + each.getKey() + "' is not the name of a command");
            require(isWithin(each.getValue()), path + ": the command '" + each.getKey() + "' leads out of it");
        }
    }

    /// The name and version, as npm's client takes them.
    public String spec() {
        return name + "@" + version;
    }

    /// The SHA-512 of its archive, in hex.
    public String sha512() {
        return HexFormat.of().formatHex(Base64.getDecoder().decode(integrity.substring(ALGORITHM.length())));
    }

    /// Whether an archive is this package's: whether it has the SHA-512.
    public boolean isIn(Path archive) throws VmException {
        return integrity(archive).equals(integrity);
    }

    /// The integrity of a file, in the form of [#integrity].
    static String integrity(Path archive) throws VmException {
        try (InputStream in = Files.newInputStream(archive)) {
            MessageDigest digest = MessageDigest.getInstance("SHA-512");
            var chunk = new byte[CHUNK_BYTES];
            for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
                digest.update(chunk, 0, n);
            }
            return ALGORITHM + Base64.getEncoder().encodeToString(digest.digest());
        } catch (IOException e) {
            throw new VmException(Code.IO, archive + " could not be read", e);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-512", e);
        }
    }

    private static boolean isSha512(String integrity) {
        if (!integrity.startsWith(ALGORITHM)) {
            return false;
        }
        try {
            byte[] digest = Base64.getDecoder().decode(integrity.substring(ALGORITHM.length()));
            // One text for one digest: the last digit of base64 may have bits that say nothing.
            return digest.length == DIGEST_BYTES
                    && integrity.equals(ALGORITHM + Base64.getEncoder().encodeToString(digest));
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static boolean isWithin(String path) {
        Path relative = Path.of(path);
        return !path.isEmpty()
                && !relative.isAbsolute()
                && relative.normalize().equals(relative)
                && !relative.startsWith("..");
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }
}
