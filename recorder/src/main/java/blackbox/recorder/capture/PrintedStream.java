package blackbox.recorder.capture;

import blackbox.schemas.folder.CaptureName;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A stream on which an agent prints. One with a terminal has only the first.
public enum PrintedStream {
    STDOUT(CaptureName.STDOUT, "standard output"),
    STDERR(CaptureName.STDERR, "standard error");

    private final CaptureName capture;
    private final String inWords;

    PrintedStream(CaptureName capture, String inWords) {
        this.capture = capture;
        this.inWords = inWords;
    }

    /// The stream of this [#word], or null.
    public static @Nullable PrintedStream of(String word) {
        return Stream.of(values())
                .filter(each -> each.word().equals(word))
                .findFirst()
                .orElse(null);
    }

    /// The file that has what was printed on it.
    public CaptureName capture() {
        return capture;
    }

    /// Its name in documents, which is that of its file.
    public String word() {
        return capture.text();
    }

    /// Its name for people.
    public String inWords() {
        return inWords;
    }
}
