package blackbox.cli.argv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.OctetText;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What goes from the launcher to the program in the environment.
final class PassedArgumentsTest {

    private static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();

    /// In the place of a JVM: says what it was given, as the kernel has it.
    private static final String JVM = "#!/bin/sh\ncat /proc/$$/cmdline; printf '\\0\\0'; cat /proc/$$/environ\n";

    @TempDir
    Path folder;

    /// In a shell, every octet but NUL as one word.
    private static final String ALL = "printf '"
            + String.join(
                    "", IntStream.range(1, 256).mapToObj("\\%03o"::formatted).toList()) + ".'";

    /// A copy of the launcher that finds a build, and a JDK whose JVM is the above.
    private Path launcher() throws IOException {
        Path java = Files.createDirectories(folder.resolve("jdk/bin")).resolve("java");
        Files.writeString(java, JVM);
        Files.writeString(java.resolveSibling("javac"), "");
        for (Path program : List.of(java, java.resolveSibling("javac"))) {
            Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
        }
        Files.writeString(folder.resolve("jdk/release"), "JAVA_VERSION=\"25\"\n");
        Files.createDirectories(folder.resolve("scripts"));
        Files.createDirectories(folder.resolve("cli/target"));
        Files.writeString(folder.resolve("cli/target/blackbox-cli-0.1.0.jar"), "");
        Files.copy(PROJECT.resolve("scripts/jdk25.sh"), folder.resolve("scripts/jdk25.sh"));
        return Files.copy(PROJECT.resolve("blackbox"), folder.resolve("blackbox"));
    }

    /// What the JVM is given: its command line and its environment.
    private List<byte[]> started(String script) throws Exception {
        var builder = new ProcessBuilder(
                        "sh",
                        "-euc",
                        "all=$(" + ALL + "); all=${all%.}; exec sh \"$0\" " + script,
                        launcher().toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().clear();
        builder.environment().put("PATH", System.getenv("PATH"));
        builder.environment().put("JAVA_HOME", folder.resolve("jdk").toString());
        builder.environment().put("BLACKBOX_ARGUMENT_2", "somebody's");
        Process process = builder.start();
        byte[] said = process.getInputStream().readAllBytes();
        assertEquals(0, process.waitFor());
        int end = new String(said, StandardCharsets.ISO_8859_1).indexOf("\0\0\0");
        return List.of(Arrays.copyOf(said, end + 1), Arrays.copyOfRange(said, end + 3, said.length));
    }

    @Test
    void theLauncherPassesAllButTheCommandsName() throws Exception {
        List<byte[]> jvm = started("record '' --env \"ALL=$all\" -- -n '*' 'a\nb\n' '@x' ''");
        String line = new String(jvm.getFirst(), StandardCharsets.ISO_8859_1);
        assertTrue(line.endsWith("blackbox-cli-0.1.0.jar\0record\0"), line);
        byte[] environment = jvm.getLast();
        var every = new StringBuilder("ALL=");
        IntStream.range(1, 256).forEach(octet -> every.append((char) octet));
        List<String> taken = new ArrayList<>(PassedArguments.take(environment));
        assertEquals(every.toString(), new String(OctetText.octets(taken.remove(2)), StandardCharsets.ISO_8859_1));
        assertEquals(List.of("", "--env", "--", "-n", "*", "a\nb\n", "@x", ""), taken);
        String left = new String(environment, StandardCharsets.ISO_8859_1);
        assertFalse(left.contains("BLACKBOX_ARGUMENT") || left.contains("\u00ff"), left);
        assertTrue(left.contains("JAVA_HOME="), left);
    }

    @Test
    void oneArgumentAloneIsNotPassedElsewhere() throws Exception {
        List<byte[]> jvm = started("runs");
        assertTrue(new String(jvm.getFirst(), StandardCharsets.ISO_8859_1).endsWith("\0runs\0"));
        assertEquals(List.of(), PassedArguments.take(jvm.getLast()), "what somebody else has set is no argument");
    }

    @Test
    void whatIsNotWholeIsRefused() {
        byte[] missing = "BLACKBOX_ARGUMENTS=2\0BLACKBOX_ARGUMENT_1=a\0".getBytes(StandardCharsets.US_ASCII);
        byte[] before = missing.clone();
        assertThrows(IOException.class, () -> PassedArguments.take(missing));
        assertArrayEquals(before, missing);
        byte[] none = "BLACKBOX_ARGUMENTS=\0BLACKBOX_ARGUMENT_1=a\0".getBytes(StandardCharsets.US_ASCII);
        assertThrows(IOException.class, () -> PassedArguments.take(none));
    }

    /// Another process takes them, and says what its own child inherits.
    @Test
    void noChildInheritsThem() throws Exception {
        var builder = new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/java",
                        "-Xint",
                        "-cp",
                        System.getProperty("java.class.path"),
                        PassedArgumentsTest.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().put("BLACKBOX_ARGUMENTS", "1");
        builder.environment().put("BLACKBOX_ARGUMENT_1", "a secret");
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        assertEquals(0, process.waitFor());
        assertTrue(said.startsWith("[a secret]\n"), said);
        assertTrue(said.contains("PATH="), said);
        assertEquals(said.indexOf("a secret"), said.lastIndexOf("a secret"), said);
    }

    /// The other process.
    public static void main(String[] args) throws IOException, InterruptedException {
        System.out.println(PassedArguments.take());
        for (boolean changed : new boolean[] {false, true}) {
            var child = new ProcessBuilder("cat", "/proc/self/environ");
            if (changed) {
                child.environment().put("MORE", "yes");
            }
            var inherited = new ByteArrayOutputStream();
            Process process = child.start();
            process.getInputStream().transferTo(inherited);
            process.waitFor();
            System.out.println(inherited.toString(StandardCharsets.ISO_8859_1));
        }
        System.out.println(Files.readString(Path.of("/proc/self/environ"), StandardCharsets.ISO_8859_1));
    }
}
