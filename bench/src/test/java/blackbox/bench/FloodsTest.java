package blackbox.bench;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.bench.subject.Flood;
import blackbox.bench.subject.FloodedRun;
import blackbox.bench.subject.HostileGuest;
import blackbox.bench.subject.VmData;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The floods of `make bench ONLY=floods` that took the most memory, that hid what was lost or that kept a run from
/// being
/// closed, for a few seconds each: the recorder stays small, closes the run, and `verify` says what is so.
class FloodsTest {
    private static final int SECONDS = 3;

    private static HostileGuest guest;

    @BeforeAll
    static void makeGuest() throws Exception {
        guest = HostileGuest.of(VmData.shared());
    }

    @AfterAll
    static void close() throws Exception {
        guest.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"strings", "protocol", "packets", "names"})
    void theRecorderStaysSmallAndClosesTheRun(String name) throws Exception {
        List<Flood> floods =
                Flood.ALL.stream().filter(each -> each.title().equals(name)).toList();
        FloodedRun run = FloodedRun.record(guest, floods.getFirst(), SECONDS);
        System.out.print(FloodedRun.head() + run.line());
        assertNull(run.wrong(Floods.MEMORY_MIB_MAX, Floods.CLOSED_MAX), run::line);
        // Where the protocol is broken nobody counts.
        assertTrue(run.sent() > 0 || name.equals("protocol"), run::line);
    }
}
