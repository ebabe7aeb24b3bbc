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

/// Some floods of `make bench ONLY=floods`, for a few seconds each: the recorder closes the run, declares
/// what is lost, and `verify` says what is so. A few seconds do not fill a heap: that it is small enough is
/// for the bench to show.
class FloodsTest {
    private static final int SECONDS = 3;
    /// The heap, and what a recorder has beside it.
    private static final long RECORDER_MIB_MAX = 900;

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
    void theRunIsClosedAndWhatIsLostIsDeclared(String name) throws Exception {
        List<Flood> floods =
                Flood.ALL.stream().filter(each -> each.title().equals(name)).toList();
        FloodedRun run = FloodedRun.record(guest, floods.getFirst(), SECONDS);
        System.out.print(FloodedRun.head() + run.line());
        assertNull(run.wrong(RECORDER_MIB_MAX, Floods.CLOSED_MAX), run::line);
        // Where the protocol is broken nobody counts.
        assertTrue(run.sent() > 0 || name.equals("protocol"), run::line);
    }
}
