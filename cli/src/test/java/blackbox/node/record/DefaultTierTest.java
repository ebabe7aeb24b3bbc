package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The tier of a recording for which none was requested: what this machine can do decides, and both request and
/// choice are sealed. Working KVM rules the exact tier out, so that there is only one possible answer.
class DefaultTierTest {

    @TempDir
    Path folder;

    @Test
    void theChoiceIsPrintedSealedAndShown() throws Exception {
        var blackbox = Installation.in(folder);
        Ended ended = blackbox.run("record", "--json", "--", "true").expect(0);
        JsonNode recorded = ended.recorded();
        String tier = recorded.path("tier").asText();
        assertEquals(accelerator(blackbox).startsWith("KVM") ? "live" : "exact", tier);
        ended.saying("tier " + tier + ": " + recorded.path("tierReason").asText());
        JsonNode detail =
                blackbox.run("show", "last", "--json").expect(0).json().path("detail");
        assertEquals(tier, detail.path("tier").asText());
        assertEquals("auto", detail.path("tierAsked").asText());
        assertEquals(recorded.path("tierReason"), detail.path("tierReason"));
        assertTrue(blackbox.run("doctor").out().contains("tier-default"), "doctor says nothing about the default");
    }

    @Test
    void withoutAQemuThatCanReplayItIsLiveAndSaysHowToFixIt() throws Exception {
        var blackbox = Installation.in(folder);
        Path qemu = blackbox.data().resolve("qemu");
        Files.delete(qemu); // a link to what all tests share
        Files.createDirectory(qemu);
        JsonNode recorded =
                blackbox.run("record", "--json", "--", "true").expect(0).recorded();
        assertEquals("live", recorded.path("tier").asText());
        if (!accelerator(blackbox).startsWith("KVM")) {
            assertTrue(
                    recorded.path("tierReason").asText().contains("blackbox doctor --fix"),
                    () -> "no way to fix it is named: " + recorded);
        }
    }

    private static String accelerator(Installation blackbox) throws Exception {
        JsonNode checks = blackbox.run("doctor", "--json").json();
        for (JsonNode check : checks.isArray() ? checks : checks.path("checks")) {
            if (check.path("name").asText().equals("accelerator")) {
                return check.path("detail").asText();
            }
        }
        throw new AssertionError("doctor does not report the accelerator: " + checks);
    }
}
