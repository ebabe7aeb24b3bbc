package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.OrdinaryUser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Everything that a user does, done by an unprivileged one in the C locale, with an awkwardly named data folder: a
/// live run, an exact run, and an image.
class OrdinaryUserTest {
    private static final Duration PATIENCE = Duration.ofMinutes(20);

    /// In a shell, every octet but NUL as one variable.
    private static final String ALL = IntStream.range(1, 256)
            .mapToObj(octet -> String.format("\\%03o", octet))
            .collect(Collectors.joining("", "all=$(printf '", "'); "));

    private static OrdinaryUser user;

    @BeforeAll
    static void make() throws Exception {
        Path shared = Installation.shared();
        user = OrdinaryUser.make();
        // Not the live tier's snapshot: the user creates that one.
        for (String each : List.of("images", "archive", "cache", "qemu")) {
            user.give(shared.resolve(each), "data/" + each);
        }
    }

    @AfterAll
    static void close() throws Exception {
        user.close();
    }

    private static String run(int exitCode, ProcessBuilder builder) throws Exception {
        var ended = user.run(builder, PATIENCE);
        assertEquals(exitCode, ended.exitCode(), ended.said());
        return ended.said();
    }

    private static JsonNode json(String... arguments) throws Exception {
        return new ObjectMapper().readTree(run(0, user.blackbox(arguments)));
    }

    /// Records a command with an argument and a variable of all octets from 1 to 255, which no Java string can
    /// hold: a shell makes them.
    private static String recordAllOctets(String tier, String name) throws Exception {
        String script = ALL + "exec \"$0\" record --tier " + tier + " --name " + name
                + " --workspace \"$HOME/ws\" --env \"ALL=$all\" -- python3 -c \"$1\" \"$all\" '@/etc/passwd' 'ü漢'";
        String agent = """
                import os, sys
                every = bytes(range(1, 256))
                given = [os.fsencode(each) for each in sys.argv[1:]]
                assert given == [every, b'@/etc/passwd', 'ü漢'.encode()], given
                assert os.environb[b'ALL'] == every
                open(b'made-\\xc3\\xbc', 'wb').write(every)
                print('as given')
                """;
        Path workspace = user.home().resolve("ws");
        run(0, user.command("mkdir", "-p", workspace.toString()));
        return run(0, user.command("sh", "-euc", script, user.launcher(), agent));
    }

    private static void holdsWhatWasGiven(String name) throws Exception {
        JsonNode opening = json("events", name, "--kind", "run.open", "--json").path("detail");
        JsonNode octets = opening.path("commandOctets");
        byte[] sealed = Base64.getDecoder().decode(octets.path("3").asText());
        assertEquals(1, octets.size(), opening::toString);
        assertEquals(255, sealed.length);
        for (int i = 0; i < sealed.length; i++) {
            assertEquals((byte) (i + 1), sealed[i]);
        }
        assertEquals("@/etc/passwd", opening.path("command").path(4).asText());
        assertEquals("ü漢", opening.path("command").path(5).asText());
    }

    @Test
    void aLiveRun() throws Exception {
        String said = recordAllOctets("live", "all-live");
        assertTrue(said.contains("as given"), said);
        assertFalse(said.contains("#$%&"), said); // the value of a variable must not be shown
        holdsWhatWasGiven("all-live");
        assertEquals(
                "VERIFIED",
                json("verify", "all-live", "--json").path("integrity").asText());
        assertTrue(run(0, user.blackbox("touched", "all-live", "--json")).contains("made-ü"));
        assertTrue(run(0, user.blackbox("query", "SELECT count(*) AS n FROM events WHERE kind = 'run.open'"))
                .contains("1"));
        String replay = ALL + "exec \"$0\" replay all-live --json --env \"ALL=$all\"";
        assertTrue(run(0, user.command("sh", "-euc", replay, user.launcher())).contains("EQUIVALENT"));
    }

    @Test
    void anExactRun() throws Exception {
        assertTrue(recordAllOctets("exact", "all-exact").contains("as given"));
        holdsWhatWasGiven("all-exact");
        assertTrue(run(0, user.blackbox("replay", "all-exact", "--json")).contains("IDENTICAL"));
        // The first moment, at which nothing is on the disk yet, and one at which something may be.
        for (String moment : List.of("0", "60")) {
            assertTrue(run(0, user.blackbox("disk", "all-exact", "--at", moment, "--list", "/"))
                    .contains("workspace"));
        }
    }

    /// Root built it, or whoever runs this: the bytes are the same.
    @Test
    void anImageIsTheSameWhoeverBuildsIt() throws Exception {
        // A umask that root's builds do not have.
        String script = "umask 077; exec \"$0\" image verify default --json";
        String said = run(0, user.command("sh", "-euc", script, user.launcher()));
        JsonNode verified = new ObjectMapper().readTree(said.lines().toList().getLast());
        assertTrue(verified.path("identical").asBoolean(), verified::toString);
        try (var left = Files.list(user.data().resolve("images"))) {
            assertFalse(left.anyMatch(each -> each.getFileName().toString().startsWith(".build-")));
        }
        assertTrue(
                Files.getPosixFilePermissions(user.data().resolve("images")).contains(PosixFilePermission.OWNER_WRITE));
    }
}
