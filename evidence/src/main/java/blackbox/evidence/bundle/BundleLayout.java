package blackbox.evidence.bundle;

import blackbox.schemas.folder.DataFolder;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/// The names in a bundle (`schemas/bundle.md`).
final class BundleLayout {

    /// The bundle's type and version, as the statement gives them.
    static final String VERSION = "bundle/v2";

    /// The one before it, whose completeness report does not say what is not known.
    static final String FIRST_VERSION = "bundle/v1";

    /// The DSSE envelope around the in-toto statement; the only file that the statement does not name.
    static final String STATEMENT = "statement.dsse.json";

    static final String README = "README.md";
    static final String COMPLETENESS = "completeness.json";
    static final String FORMATS = "formats/";

    /// The public keys: an excerpt of the data folder has its names.
    static final String KEYS = new DataFolder(Path.of("")).keys() + "/";

    /// The fields of the statement's predicate.
    static final String WORD_FORMAT = "format";

    static final String WORD_RUN = "run";

    /// The pages that explain how to read the bundle.
    static final List<String> PAGES = List.of(
            "anchors.md", "batch.md", "bundle.md", "events.md", "keys.md", "leaf.md", "log.md", "table.md", "trust.md");

    static final int NAME_CHARACTERS_MAX = 240;
    static final int FILES_MAX = 100_000;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._=+-]+(/[A-Za-z0-9._=+-]+)*");
    private static final Pattern DOTS = Pattern.compile("(^|.*/)\\.\\.?(/.*|$)");

    private BundleLayout() {}

    /// Whether a file of a bundle may have this name: a path that cannot lead outside it on any system.
    static boolean isName(String name) {
        return name.length() <= NAME_CHARACTERS_MAX
                && NAME.matcher(name).matches()
                && !DOTS.matcher(name).matches();
    }

    /// The statement's predicate.
    static Map<String, String> predicate(String version, String run) {
        return Map.of(WORD_FORMAT, version, WORD_RUN, run);
    }
}
