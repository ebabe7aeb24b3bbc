package blackbox.cli.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.exit.CommandException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DestinationTest {

    @TempDir
    Path folder;

    private List<String> names() throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.map(each -> String.valueOf(each.getFileName())).sorted().toList();
        }
    }

    @Test
    void aFileIsThereOnceItIsWhole() throws Exception {
        String said = new Destination(folder.resolve("out")).write(to -> {
            to.write('a');
            to.flush();
            assertEquals(1, names().size());
            assertTrue(names().getFirst().startsWith(".out."), () -> "under a hidden name until it is whole");
            return "done";
        });
        assertEquals("done", said);
        assertEquals(List.of("out"), names());
        assertEquals("a", Files.readString(folder.resolve("out")));
    }

    @Test
    void ofOneThatFailsNothingIsLeft() throws Exception {
        Destination.Body<String, IOException> failing = to -> {
            to.write('a');
            throw new IOException("no more");
        };
        assertThrows(IOException.class, () -> new Destination(folder.resolve("out")).write(failing));
        assertEquals(List.of(), names());
    }

    @Test
    void nothingIsWrittenOver() throws Exception {
        Path file = Files.writeString(folder.resolve("out"), "before");
        assertThrows(CommandException.class, () -> new Destination(file).write(to -> true));
        Path late = folder.resolve("late");
        assertThrows(
                CommandException.class,
                () -> new Destination(late).write(to -> Files.writeString(late, "by somebody else")));
        assertEquals("by somebody else", Files.readString(late));
        assertEquals("before", Files.readString(file));
        assertEquals(List.of("late", "out"), names());
    }

    @Test
    void aFolderThatIsNotThereIsNamed() {
        var refused =
                assertThrows(CommandException.class, () -> new Destination(folder.resolve("no/out")).write(to -> true));
        assertTrue(String.valueOf(refused.getMessage()).contains("no folder"), refused::getMessage);
    }
}
