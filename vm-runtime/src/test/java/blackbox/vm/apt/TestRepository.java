package blackbox.vm.apt;

import blackbox.schemas.Hash;
import blackbox.vm.Command;
import blackbox.vm.FileFingerprint;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;

/// A mirror of Debian's form with packages that a test makes, served over loopback; it can be made to misbehave.
public final class TestRepository implements AutoCloseable {
    public static final String SUITE = "trixie";

    private final Path folder;
    private final HttpServer server;
    /// By file, what the lists say.
    private final Map<Path, String> stanzas = new LinkedHashMap<>();
    private final Set<String> cut = ConcurrentHashMap.newKeySet();
    private final Set<String> altered = ConcurrentHashMap.newKeySet();
    private final Set<String> absent = ConcurrentHashMap.newKeySet();
    private final List<String> asked = new CopyOnWriteArrayList<>();

    /// An empty one below `folder`.
    public TestRepository(Path folder) throws IOException {
        this.folder = Files.createDirectories(folder);
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newFixedThreadPool(2, task -> {
            var thread = new Thread(task, "test repository");
            thread.setDaemon(true);
            return thread;
        }));
        server.createContext("/", this::answer);
        server.start();
    }

    /// The line of `sources.list` that names it.
    public String sources() {
        return "deb [trusted=yes] http://127.0.0.1:" + server.getAddress().getPort() + " " + SUITE + " main\n";
    }

    /// Makes a package with a file of its own and adds it to the lists.
    public DebFile add(String name, String version, String depends) throws VmException, IOException {
        return add(name, version, depends, Map.of());
    }

    /// The same, with `files` from this machine: path in the package → file.
    public DebFile add(String name, String version, String depends, Map<String, Path> files)
            throws VmException, IOException {
        return make(name, version, depends.isEmpty() ? "" : "Depends: " + depends + "\n", files);
    }

    /// An essential package.
    public DebFile addEssential(String name, String version) throws VmException, IOException {
        return make(name, version, "Essential: yes\n", Map.of());
    }

    private DebFile make(String name, String version, String fields, Map<String, Path> files)
            throws VmException, IOException {
        try (var tree = ScratchFolder.in(folder, "tree-")) {
            Path control = Files.createDirectories(tree.path().resolve("DEBIAN"));
            String text = "Package: " + name + "\nVersion: " + version
                    + "\nArchitecture: amd64\nMaintainer: a test <test@test>\n" + fields + "Description: of a test\n";
            Files.writeString(control.resolve("control"), text);
            Path own = tree.path().resolve("usr/share/" + name + "/version");
            Files.createDirectories(own.getParent());
            Files.writeString(own, (name + " " + version + "\n").repeat(2000));
            for (var each : files.entrySet()) {
                Path target = tree.path().resolve(each.getKey());
                Files.createDirectories(target.getParent());
                Files.copy(each.getValue(), target);
            }
            Path deb = deb(name, version);
            Command.of(
                            "dpkg-deb",
                            "--root-owner-group",
                            "-Znone",
                            "-b",
                            tree.path().toString(),
                            deb.toString())
                    .run();
            var made = new DebFile(
                    name, version, "amd64", FileFingerprint.hash(deb).toString(), Files.size(deb));
            stanzas.put(
                    deb,
                    text + "Filename: " + deb.getFileName() + "\nSize: " + made.bytes() + "\nSHA256: " + made.sha256()
                            + "\n\n");
            publish();
            return made;
        }
    }

    /// Takes a version out of the lists and off the disk.
    public void remove(String name, String version) throws IOException {
        Path deb = deb(name, version);
        stanzas.remove(deb);
        Files.delete(deb);
        publish();
    }

    /// From now on the lists give this package's length as a word instead of a number.
    public void mangle(DebFile file) throws IOException {
        stanzas.computeIfPresent(
                deb(file.name(), file.version()), (deb, text) -> text.replaceAll("\\nSize: .*", "\nSize: much"));
        publish();
    }

    /// From now on this package's file is cut off in the middle.
    public void cut(DebFile file) {
        cut.add(fileName(file));
    }

    /// From now on an octet of this package's file is altered.
    public void alter(DebFile file) {
        altered.add(fileName(file));
    }

    /// From now on this package's file is missing, although the lists have it.
    public void lose(DebFile file) {
        absent.add(fileName(file));
    }

    /// From now on all files are served as they are.
    public void behave() {
        cut.clear();
        altered.clear();
        absent.clear();
    }

    /// Which packages' files were asked for since the last time.
    public List<String> asked() {
        var names = new ArrayList<>(asked);
        asked.clear();
        return names.stream()
                .map(each -> each.substring(0, each.indexOf('_')))
                .sorted()
                .toList();
    }

    /// Stops the server.
    @Override
    public void close() {
        server.stop(0);
    }

    private String fileName(DebFile file) {
        return deb(file.name(), file.version()).getFileName().toString();
    }

    private Path deb(String name, String version) {
        return folder.resolve(name + "_" + version.replace(":", "%3a") + "_amd64.deb");
    }

    private void publish() throws IOException {
        byte[] octets = String.join("", stanzas.values()).getBytes(StandardCharsets.UTF_8);
        Path suite = folder.resolve("dists").resolve(SUITE);
        Files.createDirectories(suite.resolve("main/binary-amd64"));
        Files.write(suite.resolve("main/binary-amd64/Packages"), octets);
        Files.writeString(
                suite.resolve("Release"),
                "Origin: Test\nSuite: " + SUITE + "\nCodename: " + SUITE
                        + "\nArchitectures: amd64\nComponents: main\nDate: Thu, 01 Jan 1970 00:00:00 UTC\nSHA256:\n "
                        + Hash.sha256(octets) + " " + octets.length + " main/binary-amd64/Packages\n");
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            String name = path.substring(path.lastIndexOf('/') + 1);
            Path file = folder.resolve(path.substring(1)).normalize();
            if (name.endsWith(".deb")) {
                asked.add(name);
            }
            if (!file.startsWith(folder) || !Files.isRegularFile(file) || absent.contains(name)) {
                exchange.sendResponseHeaders(404, -1);
                return;
            }
            byte[] octets = Files.readAllBytes(file);
            if (altered.contains(name)) {
                octets[octets.length / 2] ^= 1;
            }
            exchange.sendResponseHeaders(200, octets.length);
            exchange.getResponseBody().write(octets, 0, cut.contains(name) ? octets.length / 2 : octets.length);
        }
    }
}
