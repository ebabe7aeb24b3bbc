package blackbox.vm.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.vm.VmException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AptSourcesTest {
    @TempDir
    Path etc;

    @Test
    void takesTheSuiteItsUpdatesAndItsSecurityFromStanzas() {
        String text = """
                Types: deb deb-src
                # a comment
                URIs: http://mirror.test/debian
                Suites: bookworm bookworm-updates
                 bookworm-backports
                Components: main contrib
                Signed-By: /usr/share/keyrings/debian.gpg

                Types: deb
                URIs: http://mirror.test/security
                Suites: bookworm-security
                Components: main

                Types: deb
                Enabled: no
                URIs: http://other.test/
                Suites: bookworm
                Components: main
                """;
        assertEquals(
                List.of(
                        "deb [signed-by=/usr/share/keyrings/debian.gpg] http://mirror.test/debian bookworm main contrib",
                        "deb [signed-by=/usr/share/keyrings/debian.gpg] http://mirror.test/debian bookworm-updates main contrib",
                        "deb http://mirror.test/security bookworm-security main"),
                AptSources.stanzas(text, "bookworm"));
    }

    @Test
    void takesOneLineSourcesOfTheSuiteOnly() {
        String text = """
                # deb http://mirror.test/debian bookworm main
                deb [arch=amd64 signed-by=/k.gpg] http://mirror.test/debian bookworm main
                deb-src http://mirror.test/debian bookworm main
                deb http://vendor.test/apt nodistro main
                deb http://mirror.test/debian bookworm-backports main
                """;
        assertEquals(
                List.of("deb [arch=amd64 signed-by=/k.gpg] http://mirror.test/debian bookworm main"),
                AptSources.oneLine(text, "bookworm"));
    }

    @Test
    void aMachineWithoutTheSuiteIsToldHowToMendIt() throws Exception {
        Files.writeString(etc.resolve("sources.list"), "deb http://vendor.test/apt nodistro main\n");
        var failure = assertThrows(VmException.class, () -> AptSources.of(etc, "bookworm", null));
        assertEquals(VmException.Code.MIRROR, failure.code());
        assertTrue(failure.getMessage().contains("--mirror"), failure.getMessage());
    }

    @Test
    void aMirrorByFlagReplacesTheMachines() throws Exception {
        assertEquals(
                "deb http://m.test/debian bookworm main\n", AptSources.of(etc, "bookworm", "http://m.test/debian"));
    }
}
