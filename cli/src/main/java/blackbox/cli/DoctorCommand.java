package blackbox.cli;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.terminal.Narrator;
import blackbox.node.doctor.Check;
import blackbox.node.doctor.Doctor;
import blackbox.vm.VmException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `blackbox doctor`: what this machine can do. Exit 0 when it can record, 1 when something needed is missing.
@Command(
        name = "doctor",
        description = "Check what this machine can do, and say how to get what is missing.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExample:%n",
        footer = {
            "  blackbox doctor --json",
            "  blackbox doctor --fix      try record and replay with each QEMU; if none passes, unpack Debian's",
            "",
            "Exit code 1: something that recording needs is missing."
        })
public final class DoctorCommand implements Callable<Integer> {

    @Mixin
    CommonOptions common = new CommonOptions();

    @Option(
            names = "--fix",
            description =
                    "Fetch what can be had without installing packages: a QEMU for exact recordings, kept in the data folder.")
    boolean fix;

    @Option(
            names = "--mirror",
            paramLabel = "URL",
            description = "Mirror of Debian's packages for --fix (default: this machine's own apt sources).")
    @Nullable
    String mirror;

    @Override
    public Integer call() throws VmException {
        if (fix) {
            try (var narrator = Narrator.onStandardError()) {
                Doctor.fix(common.ownDataFolder().root(), mirror, narrator::say);
            }
        }
        List<Check> checks = Doctor.look(common.dataFolder().root());
        if (common.json()) {
            var array = new ObjectMapper().createArrayNode();
            for (Check check : checks) {
                array.addObject()
                        .put("name", check.name())
                        .put("state", check.state().name().toLowerCase(Locale.ROOT))
                        .put("detail", check.detail())
                        .put("mend", check.mend());
            }
            System.out.println(array);
        } else {
            checks.forEach(DoctorCommand::print);
        }
        boolean well = checks.stream().noneMatch(check -> check.state() == Check.State.MISSING);
        return well ? ExitCodes.OK : ExitCodes.DOES_NOT_HOLD;
    }

    private static void print(Check check) {
        String mark = switch (check.state()) {
            case OK -> "ok      ";
            case MISSING -> "MISSING ";
            case ABSENT -> "absent  ";
        };
        String mend = check.mend();
        System.out.printf("%s %-20s %s%s%n", mark, check.name(), check.detail(), mend == null ? "" : "  → " + mend);
    }
}
