package blackbox.bench.work;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;

/// A loopback server with packages of its own making, as npm's and pip's clients ask for them, and with answers
/// for agents: `/messages` to what is posted, `/item/N` of a length of its own.
public final class PackageRegistry implements AutoCloseable {
    /// How many packages npm installs.
    public static final int NPM_PACKAGES = 60;

    private static final int WHEELS = 12;
    private static final int MODULES = 20;
    private static final String VERSION = "1.0.0";
    /// QEMU's address for the host's loopback interface.
    private static final String HOST = "10.0.2.2";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int NOT_FOUND = 404;

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool(
            Thread.ofPlatform().daemon().name("registry-", 0).factory());
    /// By path, what is there; npm's documents name this server's address.
    private final Map<String, byte[]> files = new TreeMap<>();

    private final ObjectNode lock = JSON.createObjectNode();

    /// Starts it.
    public static PackageRegistry start() throws IOException {
        return new PackageRegistry();
    }

    private PackageRegistry() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 128);
        server.setExecutor(threads);
        npm();
        wheels();
        server.createContext("/", this::answer);
        server.start();
    }

    /// Its address to a guest with `--network user`.
    public String guestUrl() {
        return "http://" + HOST + ":" + server.getAddress().getPort();
    }

    /// Writes `package.json` and `package-lock.json`.
    public void writeLock(Path folder) throws IOException {
        ObjectNode root = JSON.createObjectNode().put("name", "workspace").put("version", VERSION);
        root.set("dependencies", lock.path("packages").path("").path("dependencies"));
        Files.writeString(folder.resolve("package.json"), root.toPrettyString());
        Files.writeString(folder.resolve("package-lock.json"), lock.toPrettyString());
    }

    private void npm() {
        lock.put("name", "workspace").put("version", VERSION).put("lockfileVersion", 3);
        ObjectNode packages = lock.putObject("packages");
        ObjectNode wanted = packages.putObject("").put("name", "workspace").put("version", VERSION);
        ObjectNode dependencies = wanted.putObject("dependencies");
        for (int i = 0; i < NPM_PACKAGES; i++) {
            String name = npmName(i);
            byte[] archive = npmArchive(i);
            String path = "/archives/" + name + ".tgz";
            String integrity = "sha512-" + Base64.getEncoder().encodeToString(digest("SHA-512", archive));
            files.put(path, archive);
            ObjectNode document = JSON.createObjectNode().put("name", name);
            document.putObject("dist-tags").put("latest", VERSION);
            ObjectNode version = document.putObject("versions").putObject(VERSION);
            version.put("name", name).put("version", VERSION);
            version.putObject("dist").put("tarball", guestUrl() + path).put("integrity", integrity);
            files.put("/" + name, document.toString().getBytes(StandardCharsets.UTF_8));
            dependencies.put(name, VERSION);
            packages.putObject("node_modules/" + name)
                    .put("version", VERSION)
                    .put("resolved", guestUrl() + path)
                    .put("integrity", integrity);
        }
    }

    private static String npmName(int number) {
        return "package-%02d".formatted(number);
    }

    private static byte[] npmArchive(int number) {
        var content = new LinkedHashMap<String, String>();
        content.put(
                "package/package.json",
                JSON.createObjectNode()
                        .put("name", npmName(number))
                        .put("version", VERSION)
                        .put("main", "index.js")
                        .toPrettyString());
        content.put("package/index.js", "exports.value = " + number + ";\n");
        for (int i = 0; i < 5 + number % 7; i++) {
            content.put("package/lib/part" + i + ".js", ("// part " + i + "\n").repeat(20 + 13 * number));
        }
        return tar(content);
    }

    private static byte[] tar(Map<String, String> content) {
        var octets = new ByteArrayOutputStream();
        try (var out = new TarArchiveOutputStream(new GZIPOutputStream(octets))) {
            for (Map.Entry<String, String> file : content.entrySet()) {
                byte[] data = file.getValue().getBytes(StandardCharsets.UTF_8);
                var entry = new TarArchiveEntry(file.getKey());
                entry.setModTime(FileTime.fromMillis(0));
                entry.setSize(data.length);
                out.putArchiveEntry(entry);
                out.write(data);
                out.closeArchiveEntry();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return octets.toByteArray();
    }

    private void wheels() {
        for (int i = 0; i < WHEELS; i++) {
            String name = "package_%02d".formatted(i);
            String wheel = name + "-" + VERSION + "-py3-none-any.whl";
            files.put("/wheels/" + wheel, wheel(i, name));
            files.put(
                    "/simple/" + name.replace('_', '-') + "/",
                    "<html><body><a href=\"/wheels/%s\">%s</a></body></html>"
                            .formatted(wheel, wheel)
                            .getBytes(StandardCharsets.UTF_8));
        }
    }

    /// Each needs the one before it, so that asking for the last one asks for all.
    private static byte[] wheel(int number, String name) {
        var content = new LinkedHashMap<String, String>();
        var imports = new StringBuilder();
        for (int i = 0; i < MODULES; i++) {
            content.put(name + "/module_" + i + ".py", "VALUE = " + number + "\n" + "# filler\n".repeat(30 + i));
            imports.append("from . import module_").append(i).append('\n');
        }
        content.put(name + "/__init__.py", imports.toString());
        String about = name + "-" + VERSION + ".dist-info/";
        String needs = number == 0 ? "" : "Requires-Dist: package-%02d%n".formatted(number - 1);
        content.put(
                about + "METADATA",
                "Metadata-Version: 2.1\nName: " + name.replace('_', '-') + "\nVersion: " + VERSION + "\n" + needs);
        content.put(
                about + "WHEEL", "Wheel-Version: 1.0\nGenerator: bench\nRoot-Is-Purelib: true\nTag: py3-none-any\n");
        var record = new StringBuilder();
        for (Map.Entry<String, String> file : content.entrySet()) {
            byte[] octets = file.getValue().getBytes(StandardCharsets.UTF_8);
            String digest = Base64.getUrlEncoder().withoutPadding().encodeToString(digest("SHA-256", octets));
            record.append("%s,sha256=%s,%d%n".formatted(file.getKey(), digest, octets.length));
        }
        content.put(about + "RECORD", record + about + "RECORD,,\n");
        return zip(content);
    }

    private static byte[] zip(Map<String, String> content) {
        var octets = new ByteArrayOutputStream();
        try (var out = new ZipOutputStream(octets)) {
            for (Map.Entry<String, String> file : content.entrySet()) {
                byte[] data = file.getValue().getBytes(StandardCharsets.UTF_8);
                var entry = new ZipEntry(file.getKey());
                entry.setTime(0);
                out.putNextEntry(entry);
                out.write(data);
                out.closeEntry();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return octets.toByteArray();
    }

    private static byte[] digest(String algorithm, byte[] octets) {
        try {
            return MessageDigest.getInstance(algorithm).digest(octets);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] sent = exchange.getRequestBody().readAllBytes();
            String path = exchange.getRequestURI().getPath();
            byte[] answer = files.get(path);
            if (path.equals("/messages")) {
                String digest = Base64.getEncoder().encodeToString(digest("SHA-256", sent));
                answer = ("answer " + digest + "\n").getBytes(StandardCharsets.UTF_8);
            } else if (path.startsWith("/item/")) {
                int number = Integer.parseInt(path.substring("/item/".length()));
                answer = "item %d ".formatted(number).repeat(1 + 37 * number).getBytes(StandardCharsets.UTF_8);
            }
            if (answer == null) {
                exchange.sendResponseHeaders(NOT_FOUND, -1);
                return;
            }
            String type = path.startsWith("/simple/") ? "text/html" : "application/json";
            exchange.getResponseHeaders().set("Content-Type", type);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
