package blackbox.vm.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// The guest gets the same octets for the same variables, in whatever order they were given: the
/// environment of a process is evidence, and another order is another environment.
class AgentCommandTest {

    private static final long SEED = 14;

    @Test
    void theOrderOfVariablesIsThatOfTheirNames() {
        var names = new ArrayList<>(List.of("Z", "A", "PATH_TO", "PATH", "a", "_", "É", "A0"));
        var random = new Random(SEED);
        for (int i = 0; i < 200; i++) {
            Collections.shuffle(names, random);
            var values = new LinkedHashMap<String, String>();
            names.forEach(name -> values.put(name, "value of " + name));
            AgentCommand command = AgentCommand.of(List.of("env"), values, "agent", AgentLimits.NONE, null);
            List<String> given = command.environment().stream()
                    .map(octets -> new String(octets, StandardCharsets.UTF_8))
                    .map(each -> each.substring(0, each.indexOf('=')))
                    .toList();
            assertEquals(List.of("A", "A0", "PATH", "PATH_TO", "Z", "_", "a", "É"), given, "seed " + SEED);
        }
    }
}
