package blackbox.vm.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.vm.Command;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What the script that installs a root asks of it before it unpacks what a definition adds.
class MakeRootTest {
    @TempDir
    Path folder;

    private Path root;

    @BeforeEach
    void install() throws Exception {
        root = Files.createDirectory(folder.resolve("root"));
        Path bin = Files.createDirectories(root.resolve("usr/bin"));
        Files.createDirectories(root.resolve("usr/sbin"));
        Files.writeString(bin.resolve("git"), "");
        Files.writeString(root.resolve("usr/sbin/fsck"), "");
        Files.createSymbolicLink(bin.resolve("awk"), Path.of("/etc/alternatives/no-such-file-on-any-host"));
        Files.createDirectory(bin.resolve("folder"));
        Files.writeString(bin.resolve("folder").resolve("below"), "");
    }

    private String taken(String names) throws Exception {
        String script;
        try (InputStream in = RootBuilder.class.getResourceAsStream("/blackbox/vm/images/make-root.sh")) {
            script = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
        }
        Matcher function = Pattern.compile("(?ms)^taken\\(\\) \\{$.*?^}$").matcher(script);
        assertTrue(function.find(), "the script has the function");
        Path commands = Files.writeString(folder.resolve("commands"), names + "\n");
        String told = "set -eu; cd '" + root + "'\n" + function.group() + "\ntaken '" + commands + "'";
        return Command.of("sh", "-c", told).within(Duration.ofSeconds(20)).run().strip();
    }

    @ParameterizedTest
    @CsvSource({"git, git", "fsck, fsck", "awk, awk", "folder, folder", "below, ''", "gi, ''", "gi., ''", "'', ''"})
    void aNameIsTakenByWhateverHasIt(String name, String by) throws Exception {
        assertEquals(by, taken(name));
        assertEquals(by, taken("another\n" + name));
    }

    /// The host has a file where the image's link leads to.
    @Test
    void noLinkIsFollowed() throws Exception {
        Path host = Files.createDirectory(folder.resolve("host"));
        Files.writeString(host.resolve("ps"), "");
        Files.delete(root.resolve("usr/sbin/fsck"));
        Files.delete(root.resolve("usr/sbin"));
        Files.createSymbolicLink(root.resolve("usr/sbin"), host);
        assertEquals("", taken("ps"));
        assertEquals("awk", taken("ps\nawk"));
    }
}
