package blackbox.console;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Runs node and npm in the module's folder, with the packages of its lock.
public final class Npm {
    public static final Path MODULE = Path.of("../console").toAbsolutePath().normalize();
    private static final Path LOCK = MODULE.resolve("package-lock.json");
    private static final Path INSTALLED = MODULE.resolve("node_modules/.package-lock.json");

    private Npm() {}

    /// Installs what the lock has, unless that is there.
    public static synchronized void install() throws IOException, InterruptedException {
        boolean there = Files.exists(INSTALLED)
                && Files.getLastModifiedTime(INSTALLED).compareTo(Files.getLastModifiedTime(LOCK)) >= 0;
        if (!there) {
            run("npm", "ci");
        }
    }

    /// What a program wrote to standard output; it must end with 0.
    static String run(String... command) throws IOException, InterruptedException {
        return run(List.of(command));
    }

    static String run(List<String> command) throws IOException, InterruptedException {
        Path errors = Files.createTempFile("blackbox-node-", ".err");
        try {
            Process process = new ProcessBuilder(command)
                    .directory(MODULE.toFile())
                    .redirectError(errors.toFile())
                    .start();
            process.getOutputStream().close();
            String said = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
            assertEquals(0, process.waitFor(), () -> command + "\n" + said + text(errors));
            return said;
        } finally {
            Files.delete(errors);
        }
    }

    /// The lines of JSON that one of the scripts in `src/test/js` prints.
    public static List<JsonNode> script(String name, List<?> words) throws IOException, InterruptedException {
        install();
        var command = new ArrayList<>(List.of("node", "src/test/js/" + name));
        words.forEach(word -> command.add(word.toString()));
        var json = new ObjectMapper();
        var lines = new ArrayList<JsonNode>();
        for (String line : run(command).lines().toList()) {
            lines.add(json.readTree(line));
        }
        return lines;
    }

    /// The texts in an array.
    public static List<String> texts(JsonNode array) {
        var texts = new ArrayList<String>();
        array.forEach(each -> texts.add(each.asText()));
        return texts;
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
