package blackbox.cli.doctor;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/// Everything that `doctor` looks at, in the order in which it is shown.
public final class Doctor {

    private Doctor() {}

    /// Looks at this machine for the data folder `data`.
    public static List<Check> look(Path data) {
        var checks = new ArrayList<>(Machine.look(data));
        checks.addAll(Keys.look(data, Instant.now()));
        checks.addAll(Programs.look());
        checks.addAll(Machines.look(data));
        return checks;
    }
}
