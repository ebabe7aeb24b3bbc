package blackbox.replay.git;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;

/// Which words are ids, whatever they look like.
final class IdTiesTest {
    private static final String REST = "f9c6bccd265a92a9695f1618ac9478070";

    @Test
    void digitsStandForWhatIsNoNumber() {
        var ties = new IdTies();
        ties.add("f7bd131" + REST, "7359427" + REST);
        ties.add("0384331" + REST, "c406e49" + REST);
        ties.add("1234567" + REST, "7654321" + REST);
        assertTrue(ties.standFor("f7bd131", "7359427"));
        assertTrue(ties.standFor("0384331", "c406e49"));
        assertFalse(ties.standFor("f7bd131", "7359428"));
        assertFalse(ties.standFor("1234567", "7654321"), "both may be numbers");
        assertTrue(ties.standFor("1234567f", "7654321f"));
    }

    @Test
    void aPackIsNoObject() {
        var ties = new IdTies();
        String one = "f7bd131" + REST;
        String other = "7359427" + REST;
        ties.addPack(one, other);
        assertTrue(ties.standFor("pack-" + one + ".pack", "pack-" + other + ".pack"));
        assertFalse(ties.isPair(one, other));
        assertNull(ties.sameFile(one.substring(0, 2) + '/' + one.substring(2)));
        assertEquals(Map.of(one, other), ties.pairs());
        assertEquals(Map.of(), ties.objects());
    }
}
