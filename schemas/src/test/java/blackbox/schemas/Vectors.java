package blackbox.schemas;

import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;

/// Where others' test vectors are: `../shared/vectors` beside the project, or the system property `blackbox.vectors`.
/// Without them a test is skipped and says so; in CI their absence is a failure.
public final class Vectors {

    private Vectors() {}

    public static Path folder() {
        Path folder = Path.of(System.getProperty("blackbox.vectors", "../../shared/vectors"));
        if (!Files.isDirectory(folder)) {
            String reason = "no test vectors at " + folder.toAbsolutePath() + "; set -Dblackbox.vectors=FOLDER";
            if ("true".equals(System.getenv("CI"))) {
                fail(reason);
            }
            System.out.println("skipped: " + reason);
            assumeTrue(false, reason);
        }
        return folder;
    }
}
