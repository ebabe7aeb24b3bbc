package blackbox.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The launcher beside a build whose JVM only says how it was started.
final class LauncherTest {

    private static final Instant BUILT = Instant.parse("2026-11-01T00:00:00Z");

    @TempDir
    Path folder;

    private Path target;
    private Path library;

    @BeforeEach
    void build() throws IOException {
        copy("blackbox");
        copy("scripts/jdk25.sh");
        target = folder.resolve("cli/target");
        Files.createDirectories(target.resolve("lib"));
        built(target.resolve("blackbox-cli-0.1.0.jar"), BUILT);
        library = built(target.resolve("lib/blackbox-schemas-0.1.0.jar"), BUILT);
        Path bin = Files.createDirectories(folder.resolve("jdk/bin"));
        script(bin.resolve("java"), "#!/bin/sh\necho \"$@\"\n");
        script(bin.resolve("javac"), "#!/bin/sh\n");
        Files.writeString(folder.resolve("jdk/release"), "JAVA_VERSION=\"25.0.1\"\n");
    }

    private void copy(String file) throws IOException {
        Path to = folder.resolve(file);
        Files.createDirectories(to.getParent());
        Files.copy(Path.of("..", file), to);
    }

    private static Path built(Path file, Instant when) throws IOException {
        return Files.setLastModifiedTime(Files.writeString(file, ""), FileTime.from(when));
    }

    private static void script(Path file, String text) throws IOException {
        Files.writeString(file, text);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
    }

    private String started(String command) throws IOException, InterruptedException {
        return started(command, folder.resolve("jdk"));
    }

    private String started(String command, Path jdk) throws IOException, InterruptedException {
        var builder =
                new ProcessBuilder("sh", folder.resolve("blackbox").toString(), command).redirectErrorStream(true);
        builder.environment().put("JAVA_HOME", jdk.toString());
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), said);
        return said;
    }

    @Test
    void aStartUpCacheIsUsedUnlessALibraryIsNewer() throws Exception {
        caches(target);
        assertTrue(started("replay").contains("-XX:AOTCache=" + target.resolve("blackbox.aot")), started("replay"));
        assertTrue(started("record").contains("-XX:AOTCache=" + target.resolve("serve.aot")), started("record"));
        built(library, BUILT.plusSeconds(120));
        assertFalse(started("replay").contains("AOTCache"), started("replay"));
        assertFalse(started("record").contains("AOTCache"), started("record"));
    }

    /// The folder was moved or copied, or does not say where its caches were made.
    @Test
    void aStartUpCacheIsUsedOnlyWhereItWasMade() throws Exception {
        caches(folder.resolve("elsewhere/cli/target"));
        assertFalse(started("replay").contains("AOTCache"), started("replay"));
        assertFalse(started("record").contains("AOTCache"), started("record"));
        Files.delete(target.resolve("aot-place"));
        assertFalse(started("replay").contains("AOTCache"), started("replay"));
    }

    private void caches(Path madeIn) throws IOException {
        for (String cache : new String[] {"blackbox.aot", "serve.aot"}) {
            built(target.resolve(cache), BUILT.plusSeconds(60));
        }
        Files.writeString(target.resolve("aot-place"), madeIn + "\n");
    }

    @Test
    void withoutACacheItStartsAllTheSame() throws Exception {
        assertTrue(started("replay").contains("-jar " + target.resolve("blackbox-cli-0.1.0.jar")), started("replay"));
    }

    /// Whatever is the matter with it; after an update of Java it is the version.
    @Test
    void ofACacheThatJavaCannotTakeNothingIsSaid() throws Exception {
        caches(target);
        var manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, Greeting.class.getName());
        Path jar = target.resolve("blackbox-cli-0.1.0.jar");
        String entry = Greeting.class.getName().replace('.', '/') + ".class";
        try (var packed = new JarOutputStream(Files.newOutputStream(jar), manifest);
                InputStream compiled = Greeting.class.getClassLoader().getResourceAsStream(entry)) {
            packed.putNextEntry(new ZipEntry(entry));
            compiled.transferTo(packed);
            packed.closeEntry();
        }
        Files.setLastModifiedTime(jar, FileTime.from(BUILT));
        assertEquals("hello\n", started("replay", Path.of(System.getProperty("java.home"))));
    }

    /// In place of the command line.
    static final class Greeting {
        private Greeting() {}

        static void main() {
            IO.println("hello");
        }
    }
}
