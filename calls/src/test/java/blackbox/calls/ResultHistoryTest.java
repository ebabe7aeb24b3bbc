package blackbox.calls;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class ResultHistoryTest {
    private final ResultHistory history = new ResultHistory();

    private List<String> fresh(String peer, String... results) {
        return history.fresh(peer, new ModelCall.Request(null, null, null, List.of(results), 0));
    }

    @Test
    void ofAConversationThatIsSentAnewOnlyTheRestIsNew() {
        assertEquals(List.of(), fresh("a"));
        assertEquals(List.of("1"), fresh("a", "1"));
        assertEquals(List.of("2", "3"), fresh("a", "1", "2", "3"));
        assertEquals(List.of(), fresh("a", "1", "2", "3"), "sent again after an error");
    }

    @Test
    void namesThatRepeatAreNewEachTime() {
        assertEquals(List.of("search"), fresh("a", "search"));
        assertEquals(List.of("search"), fresh("a", "search", "search"));
        assertEquals(List.of("read", "search"), fresh("a", "search", "search", "read", "search"));
    }

    @Test
    void conversationsAreToldApart() {
        assertEquals(List.of("1"), fresh("a", "1"));
        assertEquals(List.of("1"), fresh("b", "1"), "with another peer");
        assertEquals(List.of("2"), fresh("a", "2"), "beside it");
        assertEquals(List.of("12"), fresh("a", "12"));
        assertEquals(List.of("1", "2"), fresh("c", "1", "2"), "neither runs into the other");
        assertEquals(List.of("3"), fresh("a", "1", "3"));
    }

    @Test
    void onlySoManyAreRemembered() {
        fresh("a", "first");
        for (int each = 0; each < ResultHistory.LISTS_MAX; each++) {
            fresh("a", "other " + each);
        }
        assertEquals(List.of("first"), fresh("a", "first"));
    }
}
