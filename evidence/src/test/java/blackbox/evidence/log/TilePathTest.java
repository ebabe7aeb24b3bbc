package blackbox.evidence.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The tile paths of golang.org/x/mod `sumdb/tlog`, in the form of tlog-tiles (which leaves out the tile's
/// height and calls `data` `entries`), and more that must not be read.
class TilePathTest {

    @Test
    void aPathAndItsTileAreOneToOne() {
        Map.of(
                        "tile/0/001", new TilePath(0, 1, 256),
                        "tile/0/001.p/5", new TilePath(0, 1, 5),
                        "tile/5/x123/x456/078", new TilePath(5, 123_456_078, 256),
                        "tile/5/x123/x456/078.p/2", new TilePath(5, 123_456_078, 2),
                        "tile/0/x003/x057/500", new TilePath(0, 3_057_500, 256),
                        "tile/entries/x003/x057/500", TilePath.entries(3_057_500, 256),
                        "tile/entries/000.p/255", TilePath.entries(0, 255),
                        "tile/1/x001/x234/067", new TilePath(1, 1_234_067, 256),
                        "tile/63/x009/x223/x372/x036/x854/x775/807", new TilePath(63, Long.MAX_VALUE, 256))
                .forEach((path, tile) -> {
                    assertEquals(path, tile.path());
                    assertEquals(tile, TilePath.parse(path));
                });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "tile",
                "tile/",
                "tile/0",
                "tile/0/",
                "/tile/0/001",
                "tile/0/001/",
                "tile/5/123/456/078",
                "tile/5/x123/456/078",
                "tile/5/x123/x456/x078",
                "tile/-1/x123/x456/078",
                "tile/0/-01",
                "tile/00/001",
                "tile/64/001",
                "tile/100/001",
                "tile/4/0/001",
                "tile/8/0/001",
                "tile/data/x003/x057/500",
                "tile/Entries/001",
                "tile/0/1",
                "tile/0/01",
                "tile/0/0001",
                "tile/0/x000/001",
                "tile/0/x000/x001/001",
                "tile/0/001.p/0",
                "tile/0/001.p/05",
                "tile/0/001.p/256",
                "tile/0/001.p/1000",
                "tile/0/001.p/-1",
                "tile/0/001.p/",
                "tile/0/001.p",
                "tile/0/001.p/5/",
                "tile/0/001.P/5",
                "tile/0/001 ",
                "tile/0/001\n",
                "tile/0/../001",
                "tile//001",
                "tile/0/٠٠١",
                "tile/0/x009/x223/x372/x036/x854/x775/808",
                "tile/0/x999/x999/x999/x999/x999/x999/x999/999"
            })
    void anythingElseIsRefused(String path) {
        assertNull(TilePath.parse(path));
    }

    @Test
    void aTreeHasJustItsTiles() {
        assertEquals(new TilePath(0, 273, 112), TilePath.of(0, 273, 70_000));
        assertEquals(new TilePath(1, 0, 256), TilePath.of(1, 0, 70_000));
        assertEquals(new TilePath(2, 0, 1), TilePath.of(2, 0, 70_000));
        for (TilePath none : List.of(new TilePath(0, 274, 1), new TilePath(2, 1, 1), new TilePath(3, 0, 1))) {
            assertNull(TilePath.of(none.level(), none.index(), 70_000));
        }
        assertNull(TilePath.of(0, Long.MAX_VALUE, Long.MAX_VALUE));
        assertNull(TilePath.of(63, 0, Long.MAX_VALUE));
        assertNull(TilePath.of(0, -1, 10));
        assertThrows(IllegalArgumentException.class, () -> new TilePath(0, 0, 0));
        assertThrows(IllegalArgumentException.class, () -> new TilePath(-2, 0, 1));
    }
}
