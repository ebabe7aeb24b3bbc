package blackbox.schemas.row;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// A column that nothing writes is null in every row, and compiles: nothing but this test asks for its writer, or for
/// its line on the page.
class ColumnListsTest {

    @Test
    void everyColumnHasItsWriter() throws IOException {
        assertEquals(
                List.of(),
                missing("src/main/java/blackbox/schemas/event/EventRows.java", each -> "Column." + each.name()));
    }

    @Test
    void thePageOfEventsNamesEveryColumn() throws IOException {
        assertEquals(List.of(), missing("events.md", Column::columnName));
    }

    private static List<Column> missing(String file, Function<Column, String> word) throws IOException {
        String text = Files.readString(Path.of(file));
        return Stream.of(Column.values())
                .filter(each -> !Pattern.compile("\\b" + Pattern.quote(word.apply(each)) + "\\b")
                        .matcher(text)
                        .find())
                .toList();
    }
}
