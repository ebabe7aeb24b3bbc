package blackbox.replay.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.files.FileDifference.How;
import blackbox.schemas.row.Text;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Files that are known to be the same are, in whichever of the spread folders they are; nothing else is left out.
final class FannedOutTest {

    private static final Map<String, String> SAME =
            Map.of("9f/one", "e1/uno", "9f/two", "07/due", "33/five", "9f/cinque");

    private static final Names NAMES = new Names() {
        @Override
        public boolean standFor(Text recordedPath, Text actualPath) {
            return false;
        }

        @Override
        public boolean mayBeFannedOut(Text recordedPath) {
            return recordedPath.toString().startsWith("/r/");
        }

        @Override
        public @Nullable Text sameAs(Text recordedName) {
            String name = SAME.get(recordedName.toString());
            return name == null ? null : Text.of(name);
        }

        @Override
        public boolean holdWhatTheyAreNamedFor(
                Text recordedName, InputStream recorded, Text actualName, InputStream actual) throws IOException {
            return !new String(actual.readAllBytes(), StandardCharsets.US_ASCII).contains("damaged");
        }
    };

    @TempDir
    private Path folder;

    private TestDisk disks = new TestDisk(Path.of(""));

    @BeforeEach
    void start() {
        disks = new TestDisk(folder);
    }

    private List<String> recorded(String repository) throws Exception {
        return List.of(
                "mkdir " + repository,
                "cd " + repository,
                "mkdir objects",
                "cd objects",
                "mkdir 9f",
                "cd 9f",
                disks.write("one", "1"),
                disks.write("two", "22"),
                "cd ..",
                "mkdir 33",
                "cd 33",
                disks.write("five", "55555"),
                disks.write("shared", "both have it"),
                "cd ..",
                "mkdir info",
                "cd /upper");
    }

    private List<String> actual(String repository) throws Exception {
        return List.of(
                "mkdir " + repository,
                "cd " + repository,
                "mkdir objects",
                "cd objects",
                "mkdir e1",
                "cd e1",
                disks.write("uno", "1 packed otherwise"),
                "cd ..",
                "mkdir 07",
                "cd 07",
                disks.write("due", "22, too"),
                "cd ..",
                "mkdir 9f",
                "cd 9f",
                disks.write("cinque", "55"),
                "cd ..",
                "mkdir 33",
                "cd 33",
                disks.write("shared", "both have it"),
                "cd ..",
                "mkdir info",
                "cd /upper");
    }

    private FilesMatch match(List<String> recorded, List<String> actual) throws Exception {
        try (FilesAtEnd one = FilesAtEnd.ofImage(disks.make("recorded", recorded));
                FilesAtEnd other = FilesAtEnd.ofImage(disks.make("actual", actual))) {
            return FilesMatch.of(one, other, NAMES);
        }
    }

    @Test
    void filesThatAreTheSameMayBeInOtherFolders() throws Exception {
        FilesMatch match = match(recorded("r"), actual("r"));
        assertEquals(List.of(), match.differences());
        assertTrue(match.isSame());
    }

    @Test
    void elsewhereTheyAreOthers() throws Exception {
        assertEquals(
                List.of(
                        "/s/objects/07",
                        "/s/objects/33/five",
                        "/s/objects/9f/cinque",
                        "/s/objects/9f/one",
                        "/s/objects/9f/two",
                        "/s/objects/e1"),
                match(recorded("s"), actual("s")).differences().stream()
                        .map(each -> each.path().toString())
                        .toList());
    }

    @Test
    void allElseCounts() throws Exception {
        var other = new ArrayList<String>(actual("r"));
        other.addAll(List.of(
                "cd r/objects",
                "sif e1/uno mode 0100640",
                "sif 07 uid 7",
                "mkdir aa",
                "mkdir gg",
                "cd 33",
                "mkdir deep",
                disks.write("more", "m"),
                "rm shared",
                disks.write("shared", "BOTH have it")));
        List<String> found = match(recorded("r"), other).differences().stream()
                .map(each -> each.path() + " " + each.how())
                .toList();
        assertEquals(
                List.of(
                        "/r/objects/9f " + How.OWNER,
                        "/r/objects/33/deep " + How.EXTRA,
                        "/r/objects/33/more " + How.EXTRA,
                        "/r/objects/33/shared " + How.CONTENT,
                        "/r/objects/9f/one " + How.MODE,
                        "/r/objects/aa " + How.EXTRA,
                        "/r/objects/gg " + How.EXTRA),
                found);
    }

    @Test
    void oneThatDoesNotHoldWhatItsNameSaysIsADifference() throws Exception {
        var other = new ArrayList<String>(actual("r"));
        other.addAll(List.of("cd r/objects/07", "rm due", disks.write("due", "damaged")));
        FilesMatch match = match(recorded("r"), other);
        assertEquals(1, match.count());
        assertEquals("/r/objects/9f/two", match.differences().getFirst().path().toString());
        assertEquals(How.SIZE, match.differences().getFirst().how());
    }

    @Test
    void oneThatIsMissingIsMissing() throws Exception {
        var other = new ArrayList<String>(actual("r"));
        other.addAll(List.of("cd r/objects/e1", "rm uno", "cd ..", "rmdir e1"));
        FilesMatch match = match(recorded("r"), other);
        assertEquals(1, match.count());
        assertEquals("/r/objects/9f/one", match.differences().getFirst().path().toString());
        assertEquals(How.MISSING, match.differences().getFirst().how());
    }
}
