package blackbox.replay.seek;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PassProgressTest {
    private static final long SECOND = 1_000_000_000;

    private long nowNs;

    /// Of the way to where it goes, whatever lies behind that, and from the pace since it began.
    @Test
    void itTellsHowFarTheMomentIs() {
        var said = new ArrayList<String>();
        var progress = new PassProgress(said::add, 1_000, () -> nowNs);
        nowNs = 2 * SECOND;
        progress.at(2_000, 5_000);
        nowNs = 4 * SECOND;
        progress.at(2_500, 5_000);
        nowNs = 5 * SECOND;
        progress.at(3_000, 5_000);
        nowNs = 16 * SECOND;
        progress.at(5_000, 5_000);
        assertEquals(
                List.of(
                        "40 % of the way indexed, about 6 s left",
                        "60 % of the way indexed, about 5 s left", "100 % of the way indexed, about 0 s left"),
                said);
    }

    @Test
    void whatHasNotMovedHasNoPace() {
        var said = new ArrayList<String>();
        var progress = new PassProgress(said::add, 1_000, () -> nowNs);
        nowNs = 10 * SECOND;
        progress.at(1_000, 5_000);
        progress.at(2_000, 0);
        assertEquals(List.of(), said);
    }
}
