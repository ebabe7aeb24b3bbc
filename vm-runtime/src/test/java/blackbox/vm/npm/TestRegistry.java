package blackbox.vm.npm;

import blackbox.vm.Json;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/// A registry of packages that a test makes, served over loopback as npm's client asks for them.
public final class TestRegistry implements AutoCloseable {
    private final HttpServer server;
    private final Map<String, byte[]> answers = new ConcurrentHashMap<>();
    private final Map<String, byte[]> archives = new ConcurrentHashMap<>();
    private final List<String> asked = new CopyOnWriteArrayList<>();

    public TestRegistry() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
    }

    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/";
    }

    /// Publishes version 1.0.0 of a package, and returns it as a lock has it.
    public NpmPackage publish(String name, byte[] archive) throws Exception {
        NpmPackage published = TestArchive.npmPackage(name, archive);
        archives.put(name, archive);
        serve(name, archive);
        return published;
    }

    /// Serves another archive under the same name and version from now on.
    public void serve(String name, byte[] archive) throws Exception {
        String file = "/" + name + "/-/" + name.replaceFirst(".*/", "") + "-1.0.0.tgz";
        ObjectNode packument = Json.object().put("name", name);
        packument.putObject("dist-tags").put("latest", "1.0.0");
        packument
                .putObject("versions")
                .putObject("1.0.0")
                .put("name", name)
                .put("version", "1.0.0")
                .putObject("dist")
                .put("tarball", url() + file.substring(1))
                .put("integrity", TestArchive.integrity(archive));
        answers.put("/" + name, Json.line(packument).getBytes(StandardCharsets.UTF_8));
        answers.put(file, archive);
    }

    /// A package-lock.json of everything that was published; the direct ones are all of them.
    public String lock(Map<String, String> bins) throws Exception {
        ObjectNode lock = Json.object().put("lockfileVersion", 3);
        ObjectNode packages = lock.putObject("packages");
        ObjectNode direct = packages.putObject("").putObject("dependencies");
        for (var each : archives.entrySet()) {
            direct.put(each.getKey(), "1.0.0");
            ObjectNode entry = packages.putObject("node_modules/" + each.getKey());
            entry.put("version", "1.0.0").put("integrity", TestArchive.integrity(each.getValue()));
            String bin = bins.get(each.getKey());
            if (bin != null) {
                entry.putObject("bin").put(bin, "bin/run.sh");
            }
        }
        return Json.line(lock);
    }

    /// The paths that were asked for.
    public List<String> asked() {
        return List.copyOf(asked);
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = URLDecoder.decode(exchange.getRequestURI().getRawPath(), StandardCharsets.UTF_8);
            asked.add(path);
            byte[] answer = answers.get(path);
            exchange.sendResponseHeaders(answer == null ? 404 : 200, answer == null ? -1 : answer.length);
            if (answer != null) {
                exchange.getResponseBody().write(answer);
            }
        }
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
