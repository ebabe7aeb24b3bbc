package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import blackbox.node.record.Installation.Running;
import com.sun.net.httpserver.HttpServer;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Random secrets enter a run by every possible way; afterwards grep(1) finds them in the data folder (in clear,
/// hex or base64) only where the documentation says.
final class SecretsAtRestTest {

    @TempDir
    static Path folder;

    private static Installation blackbox;
    private static HttpServer server;

    private final String env = secret();
    private final String input = secret();
    private final String file = secret();
    private final String argument = secret();
    private final String header = new StringBuilder(file).reverse().toString();
    private final String printed = file.substring(7) + file.substring(0, 7);
    private final String complained = header.substring(7) + header.substring(0, 7);

    @BeforeAll
    static void install() throws Exception {
        blackbox = Installation.in(folder);
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 8);
        server.createContext("/", exchange -> {
            byte[] answer = ("heard "
                            + exchange.getRequestHeaders()
                                    .getFirst("Authorization")
                                    .length())
                    .getBytes(StandardCharsets.US_ASCII);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
    }

    @AfterAll
    static void stop() {
        server.stop(0);
    }

    private static String agent() {
        return """
                import os, sys, time, urllib.request
                given = sys.stdin.read()
                kept = open('.env').read().strip()
                assert os.environ['TOKEN'] and given and sys.argv[1]
                # Derived here, so that it is nowhere but on the network.
                asked = urllib.request.Request('http://10.0.2.2:%d/', headers={'Authorization': kept[::-1]})
                print(urllib.request.urlopen(asked, timeout=60).read().decode(), flush=True)
                # Derived here, too: nowhere but in what is printed.
                print(kept[7:] + kept[:7], flush=True)
                kept = kept[::-1]
                print(kept[7:] + kept[:7], file=sys.stderr, flush=True)
                if len(sys.argv) > 2:
                    time.sleep(600)
                """.formatted(server.getAddress().getPort());
    }

    private static String secret() {
        var octets = new byte[16];
        new SecureRandom().nextBytes(octets);
        return "Sk-" + Base64.getUrlEncoder().withoutPadding().encodeToString(octets);
    }

    private Running start(String tier, String... further) throws IOException {
        Path workspace = Files.createTempDirectory(folder, "workspace");
        Files.writeString(workspace.resolve(".env"), file + "\n");
        File given = Files.writeString(Files.createTempFile(folder, "given", ""), input)
                .toFile();
        List<String> command = new ArrayList<>(Installation.command(
                "record", "--json", "--tier", tier, "--network", "user", "--workspace", workspace.toString()));
        command.addAll(List.of("--env", "TOKEN", "--", "python3", "-c"));
        command.add(agent());
        command.add(argument);
        command.addAll(List.of(further));
        var builder = new ProcessBuilder(command).redirectInput(given);
        builder.environment().put("TOKEN", env);
        return blackbox.start(builder);
    }

    /// The files of the data folder in which grep finds the secret in some form.
    private static Set<String> found(String secret) throws Exception {
        return found(secret, blackbox.data());
    }

    private static Set<String> found(String secret, Path within) throws Exception {
        byte[] octets = secret.getBytes(StandardCharsets.US_ASCII);
        String hex = HexFormat.of().formatHex(octets);
        var forms = new ArrayList<>(List.of(secret, hex, hex.toUpperCase(Locale.ROOT)));
        for (int before = 0; before < 3; before++) {
            var shifted = new byte[before + octets.length];
            System.arraycopy(octets, 0, shifted, before, octets.length);
            String encoded = Base64.getEncoder().withoutPadding().encodeToString(shifted);
            forms.add(encoded.substring((before * 8 + 5) / 6, shifted.length * 8 / 6));
        }
        Path patterns = Files.write(Files.createTempFile(folder, "forms", ""), forms);
        Path list = Files.createTempFile(folder, "found", "");
        var grep = new ProcessBuilder("grep", "-rlazF", "--devices=skip", "-f", patterns.toString(), within.toString());
        grep.environment().put("LC_ALL", "C");
        Process process = grep.redirectOutput(list.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        assertTrue(process.waitFor(5, TimeUnit.MINUTES) && process.exitValue() <= 1, "grep failed");
        var places = new TreeSet<String>();
        for (String line : Files.readAllLines(list)) {
            places.add(blackbox.data().relativize(Path.of(line)).toString());
        }
        return places;
    }

    private void assertOnlyWhereThePagesSay(String run) throws Exception {
        for (String secret : List.of(env, input, header, printed, complained)) {
            assertEquals(Set.of(), found(secret));
        }
        assertEquals(Set.of("workspaces/" + run + "/.env"), found(file));
        for (String place : found(argument)) {
            assertTrue(place.matches("(warehouse|spool|kafka)/.*"), place);
        }
        String events = blackbox.run("events", run, "--json").expect(0).out();
        assertTrue(events.contains(argument), "an argument is an event");
        for (String secret : List.of(env, input, file, header, printed, complained)) {
            assertFalse(events.contains(secret));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"live", "exact"})
    void aClosedRunKeepsThemEncryptedAndAShreddedOneNotAtAll(String tier) throws Exception {
        Ended ended = start(tier).await().expect(0);
        assertEquals("heard " + header.length() + "\n" + printed + "\n", ended.out());
        String run = ended.recorded().path("run").asText();
        assertOnlyWhereThePagesSay(run);
        assertEquals(ended.out(), blackbox.run("output", run).expect(0).out());
        assertEquals(
                complained + "\n",
                blackbox.run("output", run, "--stderr").expect(0).out());
        assertOnlyWhereThePagesSay(run);

        Ended refused = blackbox.run("shred", run, "--reason", "two\nlines").expect(2);
        assertTrue(refused.err().contains("one line"), refused::err);
        Ended shredded = blackbox.run("shred", run, "--reason", "the customer asked", "--json")
                .expect(0);
        assertTrue(shredded.json().path("files").asInt() > 3, shredded::out);
        assertEquals(Set.of(), found(file));
        String verified = blackbox.run("verify", run, "--json").expect(0).out();
        assertTrue(verified.contains("\"integrity\":\"VERIFIED\""), verified);
        Ended unused =
                blackbox.run("replay", run).expect(1).saying("was shredded at").saying("the customer asked");
        unused = blackbox.run("disk", run, "--at", "1", "--list", "/").expect(1).saying("the customer asked");
        assertTrue(unused.out().isEmpty());
        unused = blackbox.run("output", run).expect(1).saying("the customer asked");
        assertTrue(unused.out().isEmpty());
    }

    /// While the recorder lives they are readable, which shows that grep would find them; then it is killed.
    @Test
    void theNextRecordingEncryptsWhatAKilledOneLeft() throws Exception {
        Running running = start("exact", "wait");
        running.awaitOutput();
        ProcessHandle qemu = running.qemu();
        // Not in the machine's own folder, with its disks of 16 GiB.
        Path captures = blackbox.data().resolve("captures");
        for (String secret : List.of(input, printed, complained)) {
            assertFalse(found(secret, captures).isEmpty(), "nothing is encrypted while it is recorded");
        }
        running.process().destroyForcibly().waitFor();
        Ended refused =
                blackbox.run("record", "--json", "--tier", "live", "--", "true").expect(0);
        assertFalse(qemu.isAlive(), "its machine was ended first");
        assertTrue(refused.err().contains("left readable"), refused::err);
        for (String secret : List.of(env, input, file, header, printed, complained)) {
            assertEquals(Set.of(), found(secret));
        }
    }
}
