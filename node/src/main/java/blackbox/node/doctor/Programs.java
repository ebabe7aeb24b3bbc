package blackbox.node.doctor;

import blackbox.vm.Command;
import blackbox.vm.VmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Programs that Blackbox starts, each with the Debian package that contains it. They are looked up and started
/// through [Command], as everywhere else.
final class Programs {

    private record Program(String name, String packageName, String neededFor, List<String> versionArguments) {}

    private static final List<Program> NEEDED = List.of(
            new Program("qemu-system-x86_64", "qemu-system-x86", "every VM", List.of("--version")),
            new Program("qemu-img", "qemu-utils", "every VM", List.of("--version")),
            new Program("bwrap", "bubblewrap", "every VM, to confine it", List.of("--version")),
            new Program("mke2fs", "e2fsprogs", "every VM", List.of("-V")),
            new Program("mmdebstrap", "mmdebstrap", "image build", List.of("--version")),
            new Program("mkfs.erofs", "erofs-utils", "image build", List.of("-V")),
            new Program("cpio", "cpio", "image build", List.of("--version")));

    private static final List<Program> OPTIONAL = List.of(
            new Program("tpm2_sign", "tpm2-tools", "keys in the TPM", List.of("--version")),
            new Program("swtpm", "swtpm", "keys in a software TPM", List.of("--version")),
            new Program("softhsm2-util", "softhsm2", "keys in a software PKCS#11 token", List.of("--version")),
            new Program("gdb", "gdb", "debugging a paused replay", List.of("--version")));

    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final String UNTOLD = "installed; reports no version";

    private Programs() {}

    static List<Check> look() {
        var checks = new ArrayList<Check>();
        NEEDED.forEach(program -> checks.add(look(program, true)));
        OPTIONAL.forEach(program -> checks.add(look(program, false)));
        return checks;
    }

    private static Check look(Program program, boolean needed) {
        if (Command.find(program.name()) != null) {
            return Check.ok(program.name(), version(program));
        }
        String detail = "not installed; needed for " + program.neededFor();
        String mend = "apt-get install " + program.packageName();
        return needed ? Check.missing(program.name(), detail, mend) : Check.absent(program.name(), detail, mend);
    }

    private static String version(Program program) {
        var command = new ArrayList<String>();
        // Some print their version to standard error.
        command.addAll(List.of("sh", "-c", "exec \"$0\" \"$@\" </dev/null 2>&1", program.name()));
        command.addAll(program.versionArguments());
        try {
            return Command.of(command.toArray(String[]::new))
                    .within(PATIENCE)
                    .run()
                    .lines()
                    .findFirst()
                    .orElse(UNTOLD)
                    .strip();
        } catch (VmException e) {
            return UNTOLD;
        }
    }
}
