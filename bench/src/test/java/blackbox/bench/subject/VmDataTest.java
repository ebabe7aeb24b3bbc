package blackbox.bench.subject;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VmDataTest {
    @TempDir
    Path folder;

    @Test
    void theDataFolderIsAnOptionOfTheInnermostCommand() {
        var data = new VmData(folder);
        assertEquals(
                List.of("image", "build", "--data", folder.toString(), "default"),
                words(data, "image", "build", "default"));
        assertEquals(List.of("record", "--data", folder.toString(), "--", "true"), words(data, "record", "--", "true"));
    }

    private static List<String> words(VmData data, String... arguments) {
        List<String> command = data.command(arguments);
        return command.subList(1, command.size());
    }
}
