package blackbox.cli.doctor;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Programs that Blackbox starts, looked up on PATH, each with the Debian package that brings it.
final class Programs {

    private record Program(String name, String packageName, String neededFor, List<String> versionArguments) {}

    private static final List<Program> NEEDED = List.of(
            new Program("qemu-system-x86_64", "qemu-system-x86", "every VM", List.of("--version")),
            new Program("qemu-img", "qemu-utils", "every VM", List.of("--version")),
            new Program("mke2fs", "e2fsprogs", "every VM", List.of("-V")),
            new Program("mmdebstrap", "mmdebstrap", "image build", List.of("--version")),
            new Program("mkfs.erofs", "erofs-utils", "image build", List.of("-V")),
            new Program("cpio", "cpio", "image build", List.of("--version")));

    private static final List<Program> OPTIONAL = List.of(
            new Program("tpm2_sign", "tpm2-tools", "keys in the TPM", List.of("--version")),
            new Program("swtpm", "swtpm", "keys in a software TPM", List.of("--version")),
            new Program("softhsm2-util", "softhsm2", "keys in a software PKCS#11 token", List.of("--version")),
            new Program("gdb", "gdb", "looking into a paused replay", List.of("--version")));

    private static final String UNTOLD = "there; it does not tell its version";

    private Programs() {}

    static List<Check> look() {
        var checks = new ArrayList<Check>();
        NEEDED.forEach(program -> checks.add(look(program, true)));
        OPTIONAL.forEach(program -> checks.add(look(program, false)));
        return checks;
    }

    private static Check look(Program program, boolean needed) {
        Path file = find(program.name());
        if (file != null) {
            return Check.ok(program.name(), version(file, program.versionArguments()));
        }
        String detail = "not on PATH; needed for " + program.neededFor();
        String mend = "apt-get install " + program.packageName();
        return needed ? Check.missing(program.name(), detail, mend) : Check.absent(program.name(), detail, mend);
    }

    private static @Nullable Path find(String name) {
        String path = System.getenv("PATH");
        for (String folder : ((path == null ? "" : path) + ":/usr/sbin:/sbin").split(":", -1)) {
            Path file = Path.of(folder).resolve(name);
            if (!folder.isEmpty() && Files.isExecutable(file)) {
                return file;
            }
        }
        return null;
    }

    private static String version(Path file, List<String> arguments) {
        var command = new ArrayList<String>();
        command.add(file.toString());
        command.addAll(arguments);
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectInput(
                            ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                    .start();
            try (InputStream out = process.getInputStream()) {
                String said = new String(out.readNBytes(4_096), StandardCharsets.UTF_8);
                boolean told = process.waitFor(5, TimeUnit.SECONDS) && process.exitValue() == 0;
                return told ? said.lines().findFirst().orElse("there").strip() : UNTOLD;
            } finally {
                process.destroyForcibly();
            }
        } catch (IOException e) {
            return UNTOLD;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "there";
        }
    }
}
