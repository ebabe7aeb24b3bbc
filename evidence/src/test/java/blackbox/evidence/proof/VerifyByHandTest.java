package blackbox.evidence.proof;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Runs what `docs/VERIFY.md` tells a reader to run, on a real proof, so that the page cannot rot.
class VerifyByHandTest {

    private static final Path PAGE = Path.of("../docs/VERIFY.md");
    private static final Pattern BLOCK = Pattern.compile("```sh\n(.*?)```", Pattern.DOTALL);

    @TempDir
    private Path folder;

    private Path proof = Path.of("");

    @BeforeEach
    void put() throws Exception {
        proof = copy("event.json");
        copy("log.pub");
        var script = new StringBuilder();
        var blocks = BLOCK.matcher(Files.readString(PAGE));
        while (blocks.find()) {
            script.append(blocks.group(1)).append('\n');
        }
        Files.writeString(folder.resolve("script"), script);
    }

    private Path copy(String name) throws Exception {
        try (InputStream in = VerifyByHandTest.class.getResourceAsStream("/proof/v1/" + name)) {
            assertNotNull(in);
            return Files.write(folder.resolve(name), in.readAllBytes());
        }
    }

    private record Outcome(int exit, String out) {}

    private Outcome run() throws Exception {
        Process bash = new ProcessBuilder("bash", "script")
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        String out = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(bash.waitFor(1, TimeUnit.MINUTES));
        return new Outcome(bash.exitValue(), out);
    }

    @Test
    void thePageVerifiesARealProof() throws Exception {
        Outcome outcome = run();
        assertEquals(0, outcome.exit, outcome.out);
        assertTrue(outcome.out.endsWith("the event is proven\n"), outcome.out);
    }

    @Test
    void anyChangeOfWhatCountsEndsIt() throws Exception {
        String text = Files.readString(proof);
        for (String part : new String[] {
            "\"leaf\" : \"A", "\"index\" : 3", "7p572SWe", "e73AGN0Z", "7mdYwYcd", "j5lBDPt2", "Y8dfAwD4", "nv1u0TfV"
        }) {
            assertTrue(text.contains(part), part);
            char last = part.charAt(part.length() - 1);
            String changed = part.substring(0, part.length() - 1) + (last == '3' ? '4' : last == 'A' ? 'B' : 'A');
            Files.writeString(proof, text.replace(part, changed));
            Outcome outcome = run();
            assertNotEquals(0, outcome.exit, part);
            assertFalse(outcome.out.contains("the event is proven"), part);
        }
    }
}
