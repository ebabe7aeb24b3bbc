package blackbox.vm.apt;

import blackbox.schemas.Hash;
import blackbox.vm.Command;
import blackbox.vm.FileFingerprint;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The files of a [PrivateApt]. apt's configuration cannot express a quotation mark, and its lists of sources
/// cannot express a blank; so if the folder's path has anything but plain characters, apt gets a link to it.
final class AptState implements AutoCloseable {
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9/._+-]+");

    private static final Pattern PACKAGE = Pattern.compile("(?m)^Package: (\\S+)");
    private static final Pattern SOURCE = Pattern.compile("(?m)^Source: (\\S+)");

    private final Path root;
    private final @Nullable Path alias;

    private AptState(Path root, @Nullable Path alias) {
        this.root = root;
        this.alias = alias;
    }

    /// Creates a fresh state in `scratch`.
    static AptState in(Path scratch, String architecture) throws VmException {
        Path real = scratch.resolve("apt").toAbsolutePath();
        ScratchFolder.delete(real);
        try {
            for (String folder : List.of("etc/preferences.d", "etc/apt.conf.d", "lists/partial", "cache/archives")) {
                Files.createDirectories(real.resolve(folder));
            }
            Files.createDirectories(real.resolve("cache/archives/partial"));
            Files.createFile(real.resolve("status"));
            Path alias = PLAIN.matcher(real.toString()).matches() ? null : alias(real);
            var state = new AptState(alias == null ? real : alias.resolve("apt"), alias);
            state.write("apt.conf", state.configuration(architecture));
            return state;
        } catch (IOException e) {
            throw new VmException(Code.IO, "apt's state could not be set up in " + real, e);
        }
    }

    private static Path alias(Path real) throws IOException {
        Path folder = Files.createTempDirectory("blackbox-apt-");
        Files.createSymbolicLink(folder.resolve("apt"), real);
        return folder;
    }

    /// A path below the state, as apt is given it.
    Path path(String within) {
        return root.resolve(within);
    }

    /// The folder in which apt runs and stores what it fetches.
    Path archives() {
        return root.resolve("cache/archives");
    }

    void write(String within, String text) throws VmException {
        put(within, text, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE);
    }

    void append(String within, String text) throws VmException {
        put(within, text, StandardOpenOption.APPEND);
    }

    private void put(String within, String text, StandardOpenOption... how) throws VmException {
        try {
            Files.writeString(path(within), text, how);
        } catch (IOException e) {
            throw new VmException(Code.IO, path(within) + " could not be written", e);
        }
    }

    String read(String within) throws VmException {
        try {
            return Files.readString(path(within));
        } catch (IOException e) {
            throw new VmException(Code.IO, path(within) + " could not be read", e);
        }
    }

    /// Writes a flat repository that lists these packages, and `etc/kept.list`, which names it.
    ///
    /// @return the source package of each, by the package's name
    Map<String, String> offer(Collection<Path> packages, String label) throws VmException {
        try {
            Path folder = Files.createDirectories(path("kept"));
            var index = new StringBuilder();
            var sources = new HashMap<String, String>();
            for (Path each : packages) {
                String control =
                        Command.of("dpkg-deb", "-f", each.toString()).run().stripTrailing();
                String name = field(control, PACKAGE, "");
                sources.put(name, field(control, SOURCE, name));
                index.append(control)
                        .append("\nFilename: ./")
                        .append(each.getFileName())
                        .append("\nSize: ")
                        .append(Files.size(each))
                        .append("\nSHA256: ")
                        .append(FileFingerprint.hash(each))
                        .append("\n\n");
            }
            byte[] octets = index.toString().getBytes(StandardCharsets.UTF_8);
            Files.write(folder.resolve("Packages"), octets);
            Files.writeString(
                    folder.resolve("Release"),
                    "Origin: Blackbox\nLabel: " + label + "\nDate: Thu, 01 Jan 1970 00:00:00 UTC\nSHA256:\n "
                            + Hash.sha256(octets) + " " + octets.length + " Packages\n");
            write("etc/kept.list", "deb [trusted=yes] copy:" + folder + " ./\n");
            return sources;
        } catch (IOException e) {
            throw new VmException(Code.IO, "the packages that are kept could not be listed", e);
        }
    }

    private static String field(String control, Pattern form, String otherwise) {
        var found = form.matcher(control);
        return found.find() ? found.group(1) : otherwise;
    }

    private String configuration(String architecture) throws VmException {
        var text = new StringBuilder();
        // The machine's own settings for reaching a mirror (proxies, timeouts, date checks) still apply.
        Command.of("apt-config", "dump")
                .run()
                .lines()
                .filter(line -> line.matches("Acquire::(http|https|Check|Retries|Max|ForceIPv).*"))
                .forEach(line -> text.append(line).append('\n'));
        // But a mirror on this machine is accessed directly.
        text.append("Acquire::http::Proxy::127.0.0.1 \"DIRECT\";\nAcquire::http::Proxy::localhost \"DIRECT\";\n");
        text.append("Dir::Etc \"").append(path("etc")).append("\";\n");
        text.append("Dir::Etc::trusted \"/etc/apt/trusted.gpg\";\n");
        text.append("Dir::Etc::trustedparts \"/etc/apt/trusted.gpg.d\";\n");
        text.append("Dir::Etc::netrc \"/etc/apt/auth.conf\";\n");
        text.append("Dir::Etc::netrcparts \"/etc/apt/auth.conf.d\";\n");
        text.append("Dir::State \"").append(root).append("\";\n");
        text.append("Dir::State::status \"").append(path("status")).append("\";\n");
        text.append("Dir::Cache \"").append(path("cache")).append("\";\n");
        text.append("APT::Architecture \"").append(architecture).append("\";\n");
        text.append("APT::Architectures { \"").append(architecture).append("\"; };\n");
        text.append("APT::Install-Recommends \"false\";\nAPT::Sandbox::User \"root\";\nAcquire::Languages \"none\";\n");
        return text.toString();
    }

    @Override
    public void close() throws VmException {
        if (alias != null) {
            ScratchFolder.delete(alias);
        }
    }
}
