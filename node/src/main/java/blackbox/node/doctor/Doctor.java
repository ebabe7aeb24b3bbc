package blackbox.node.doctor;

import blackbox.schemas.Progress;
import blackbox.vm.VmException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Everything that `doctor` checks, in the order in which it is shown.
public final class Doctor {

    private Doctor() {}

    /// Checks this machine and the data folder `data`.
    public static List<Check> look(Path data) {
        var checks = new ArrayList<>(Machine.look(data));
        checks.addAll(Keys.look(data, Instant.now()));
        checks.addAll(Programs.look());
        checks.addAll(Machines.look(data));
        return checks;
    }

    /// Fetches what can be obtained without installing anything on the machine: a QEMU for the exact tier, below
    /// `data`.
    ///
    /// @param mirror of Debian's packages, or null for the machine's own sources
    /// @param progress is told what is being done
    public static void fix(Path data, @Nullable String mirror, Progress progress) throws VmException {
        Machines.fix(data, mirror, progress);
    }
}
