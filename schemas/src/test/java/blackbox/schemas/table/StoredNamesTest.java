package blackbox.schemas.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Column;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoredNamesTest {

    @Test
    void thisVersionNamesEveryKindAndSource() {
        StoredNames kinds = StoredNames.ofThisVersion(Column.KIND);
        for (Kind kind : Kind.values()) {
            assertTrue(kinds.names(kind.code()), kind::eventName);
            assertEquals((long) kind.code(), kinds.codes().get(kind.eventName()));
        }
        assertEquals(Kind.values().length, kinds.codes().size());
        assertEquals(
                Source.values().length,
                StoredNames.ofThisVersion(Column.SOURCE).codes().size());
    }

    /// Files of the first version note nothing; they had 37 kinds and 2 sources, and always will have had.
    @Test
    void aFileThatNotesNothingHasTheFirstNames() {
        StoredNames kinds = StoredNames.parse(Column.KIND, "");
        assertNotNull(kinds);
        assertEquals(37, kinds.codes().size());
        assertEquals(10L, kinds.codes().get("file.open"));
        assertFalse(kinds.codes().containsKey("null"));
        assertEquals("", kinds.text());
        StoredNames sources = StoredNames.parse(Column.SOURCE, "");
        assertNotNull(sources);
        assertEquals(2, sources.codes().size());
    }

    @Test
    void namesOfALaterVersionAreRead() {
        StoredNames kinds = StoredNames.parse(Column.KIND, "126=later.one 127=later.two");
        assertNotNull(kinds);
        assertEquals(127L, kinds.codes().get("later.two"));
        assertTrue(kinds.names(126));
        assertFalse(kinds.names(125));
        assertEquals("126=later.one 127=later.two", kinds.text());
    }

    @Test
    void whatThisVersionNotesItReads() {
        String text = StoredNames.ofThisVersion(Column.KIND).text();
        StoredNames read = StoredNames.parse(Column.KIND, text);
        assertNotNull(read);
        assertEquals(StoredNames.ofThisVersion(Column.KIND).codes(), read.codes());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                " ",
                "126",
                "126=",
                "126=A",
                "0126=a",
                "128=a",
                "127=b 126=a",
                "126=a 126=b",
                "126=a 127=a",
                "126=a  127=b",
                "126=file.open",
                "10=file.open",
                "10=other",
            })
    void whatCannotBeIsRefused(String text) {
        assertNull(StoredNames.parse(Column.KIND, text), text);
    }
}
