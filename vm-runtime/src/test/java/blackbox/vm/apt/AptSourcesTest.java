package blackbox.vm.apt;

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
    void aMachineWithoutTheSuiteIsToldWhatToDo() throws Exception {
        Files.writeString(etc.resolve("sources.list"), "deb http://vendor.test/apt nodistro main\n");
        var failure = assertThrows(VmException.class, () -> AptSources.of(etc, "bookworm", "", null));
        assertEquals(VmException.Code.MIRROR, failure.code());
        assertTrue(failure.getMessage().contains("--mirror"), failure.getMessage());
    }

    @Test
    void aSuiteThatTheMachineLacksComesFromTheArchiveOfItsOwn() throws Exception {
        Files.createDirectory(etc.resolve("sources.list.d"));
        Files.writeString(etc.resolve("sources.list"), "deb http://vendor.test/bookworm vendor-bookworm main\n");
        Files.writeString(etc.resolve("sources.list.d/debian.sources"), """
                Types: deb
                URIs: http://bookworm.test/debian
                Suites: bookworm bookworm-updates
                Components: main
                Signed-By: /usr/share/keyrings/debian.gpg
                """);
        assertEquals("""
                deb [signed-by=/usr/share/keyrings/debian.gpg] http://bookworm.test/debian trixie main
                deb [signed-by=/usr/share/keyrings/debian.gpg] http://bookworm.test/debian trixie-updates main
                """, AptSources.of(etc, "trixie", "bookworm", null));
    }

    @Test
    void aSuiteThatTheMachineHasIsTakenAsItIs() throws Exception {
        Files.writeString(etc.resolve("sources.list"), """
                deb http://old.test/debian bookworm main
                deb http://new.test/debian trixie main
                """);
        assertEquals("deb http://new.test/debian trixie main\n", AptSources.of(etc, "trixie", "bookworm", null));
    }

    @Test
    void aMachineThatIsNotDebianNeedsAMirrorByNameAndChecksItsSignatures() throws Exception {
        Files.writeString(etc.resolve("sources.list"), "deb http://ubuntu.test/ubuntu noble main\n");
        var failure = assertThrows(VmException.class, () -> AptSources.of(etc, "trixie", "", null));
        assertTrue(failure.getMessage().contains("--mirror"), failure.getMessage());
        assertEquals(
                "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://m.test/debian trixie main\n",
                AptSources.of(etc, "trixie", "", "http://m.test/debian"));
    }

    @Test
    void anOlderImagesSuiteComesFromTheArchiveOfANewerMachine() throws Exception {
        Files.writeString(etc.resolve("sources.list"), """
                deb http://own.test/debian trixie main
                deb http://own.test/debian-security trixie-security main
                """);
        assertEquals("""
                deb http://own.test/debian bookworm main
                deb http://own.test/debian-security bookworm-security main
                """, AptSources.of(etc, "bookworm", "trixie", null));
    }
}
