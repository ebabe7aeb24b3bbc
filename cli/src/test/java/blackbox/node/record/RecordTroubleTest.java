package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Bad input and an unsuitable machine: one sentence, the right exit code, and what was recorded is kept.
class RecordTroubleTest {

    @TempDir
    static Path folder;

    private static Installation blackbox;

    @BeforeAll
    static void install() throws Exception {
        blackbox = Installation.in(folder);
    }

    @Test
    void anUnknownImageIsBadInput() throws Exception {
        Ended ended =
                blackbox.run("record", "--image", "nonesuch", "--", "true").expect(2);
        assertOneSentence(ended, "there is no image 'nonesuch'");
    }

    @Test
    void aMissingWorkspaceIsBadInput() throws Exception {
        Ended ended =
                blackbox.run("record", "--workspace", "/nonesuch", "--", "true").expect(2);
        assertOneSentence(ended, "/nonesuch is not a folder");
    }

    @Test
    void anUnknownUserNetworkOrTierIsBadInput() throws Exception {
        assertOneSentence(blackbox.run("record", "--user", "x", "--", "true").expect(2), "no user 'x'");
        assertOneSentence(blackbox.run("record", "--network", "x", "--", "true").expect(2), "no network 'x'");
        assertOneSentence(blackbox.run("record", "--tier", "x", "--", "true").expect(2), "no tier 'x'");
    }

    @Test
    void aMissingQemuIsReported() throws Exception {
        String script = """
                mount --bind /dev/null "$(command -v qemu-system-x86_64)" && exec "$@"
                """;
        Ended ended = inNamespace(script, Installation.command("record", "--", "true"))
                .expect(125);
        assertOneSentence(ended, "qemu-system-x86_64 is not installed");
    }

    @Test
    void whereTheVmCannotBeConfinedItStartsOnlyIfOneSaysSo() throws Exception {
        String script = """
                mount --bind /dev/null "$(command -v bwrap)" && exec "$@"
                """;
        inNamespace(script, Installation.command("record", "--", "true"))
                .expect(125)
                .saying("apt-get install bubblewrap");

        inNamespace(script, Installation.command("record", "--unconfined", "--name", "open", "--", "true"))
                .expect(0)
                .saying("NOT confined");
        assertEquals("none", confinement("open"));
        assertTrue(blackbox.run("show", "open").expect(0).out().contains("confined      NOT AT ALL\n"), "is not said");
        blackbox.run("record", "--name", "closed", "--", "true").expect(0);
        String how = confinement("closed");
        assertTrue(how.startsWith("bubblewrap "), how);
        String shown = blackbox.run("show", "closed").expect(0).out();
        assertTrue(shown.contains("confined      by " + how + "\n"), shown);
    }

    /// As the run's first event seals it.
    private static String confinement(String run) throws Exception {
        JsonNode shown = blackbox.run("show", run, "--json").expect(0).json();
        return String.valueOf(shown.findValue("confinement").textValue());
    }

    @Test
    void anUnwritableDataFolderIsReported() throws Exception {
        Ended ended = blackbox.start("record", "--data", "/proc/nonesuch", "--", "true")
                .await();
        assertTrue(ended.exitCode() == 2 || ended.exitCode() == 125, ended::err);
        assertEquals(1, ended.sentences().size(), ended::err);
    }

    @Test
    void withoutABrokerTheRunIsKeptAndTheNextStartPublishesIt() throws Exception {
        Ended ended = blackbox.run(
                        "record", "--name", "brokerless", "--kafka", "127.0.0.1:1", "--", "sh", "-c", "exit 4")
                .expect(4)
                .saying("127.0.0.1:1 cannot be used");
        assertTrue(ended.sentences().stream().anyMatch(line -> line.contains("stored in the spool")), ended::err);
        assertEquals(1, blackbox.names("spool").size());
        assertComplete();

        blackbox.run("record", "--", "true").expect(0).saying("that an earlier recorder");
        assertEquals(List.of(), blackbox.names("spool"));
        assertComplete();
    }

    private static void assertComplete() throws Exception {
        JsonNode verification =
                blackbox.run("verify", "brokerless", "--json").expect(0).json();
        assertEquals("VERIFIED", verification.path("integrity").asText());
        assertEquals("COMPLETE", verification.path("completeness").asText());
    }

    /// While the agent runs, the disk (a file system of its own) is shrunk to what it holds plus 4 MiB.
    @Test
    void aFullDiskEndsTheRunAndKeepsWhatWasRecorded() throws Exception {
        Path small = Files.createDirectory(folder.resolve("small"));
        String script = """
                set -eu
                data=$1 shared=$2 printed=$3
                shift 3
                mount -t tmpfs -o size=2g,mode=700 none "$data"
                for each in images archive snapshots cache; do ln -s "$shared/$each" "$data/$each"; done
                "$@" record --data "$data" --name filler -- python3 -uc "$FILL" > "$printed" &
                until [ -s "$printed" ]; do
                    kill -0 $!
                    sleep 0.1
                done
                # It goes on growing meanwhile.
                until mount -o "remount,size=$(($(du -sk "$data" | cut -f 1) + 4096))k" "$data"; do
                    kill -0 $!
                done
                set +e
                wait $!
                echo $?
                "$@" verify --data "$data" filler --json
                """;
        var arguments =
                new ArrayList<>(List.of(small.toString(), Installation.shared().toString()));
        arguments.add(folder.resolve("printed").toString());
        arguments.addAll(Installation.command());
        Ended ended = inNamespace(script, arguments);
        List<String> lines = ended.out().lines().toList();
        assertEquals("125", lines.stream().findFirst().orElse("nothing"), ended::err);
        assertTrue(ended.err().contains("full") || ended.err().contains("No space left"), ended::err);
        JsonNode verification = new ObjectMapper().readTree(lines.get(1));
        assertEquals("VERIFIED", verification.path("integrity").asText(), ended::err);
        assertTrue(verification.path("events").asLong() > 0);
    }

    /// Runs a shell script with these arguments as root of a mount namespace of its own: what it mounts is
    /// invisible to others and is unmounted when it ends.
    private static Ended inNamespace(String script, List<String> arguments) throws Exception {
        var command = new ArrayList<>(List.of("unshare", "--mount"));
        if (!"root".equals(System.getProperty("user.name"))) {
            command.add("--map-root-user");
        }
        command.addAll(List.of("sh", "-c", script, "sh"));
        command.addAll(arguments);
        var builder = new ProcessBuilder(command).redirectInput(new File("/dev/null"));
        builder.environment().put("FILL", """
                        import os
                        print("up")
                        f = open("filled", "wb")
                        while True:
                            f.write(os.urandom(65536))
                            f.flush()
                            os.fsync(f.fileno())
                        """);
        return blackbox.start(builder).await();
    }

    private static void assertOneSentence(Ended ended, String words) {
        assertEquals(1, ended.sentences().size(), ended::err);
        ended.saying(words);
        assertTrue(ended.err().lines().count() <= 2, ended::err);
    }
}
