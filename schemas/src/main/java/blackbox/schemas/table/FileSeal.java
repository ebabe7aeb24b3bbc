package blackbox.schemas.table;

import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import org.jspecify.annotations.Nullable;

/// What ingest signs about one data file, so that any changed octet in it is detected, even one that no value
/// depends on. The signed text of the note in `<data file>.seal`; see `schemas/table.md`.
public record FileSeal(RunId run, DataFileName file, long rows, long sizeBytes, Hash sha256) {

    private static final String VERSION_LINE = "blackbox/file/v1";
    private static final int LINES = 8;
    private static final String DECIMAL = "0|[1-9][0-9]{0,18}";

    public FileSeal {
        if (rows != file.endIndex() - file.firstIndex() || sizeBytes <= 0) {
            throw new IllegalArgumentException(
                    "a seal of " + file + " cannot count " + rows + " rows in " + sizeBytes + " octets");
        }
    }

    /// The text that is signed, ending in a newline.
    public String text() {
        return VERSION_LINE + "\n" + run + "\n" + file.firstIndex() + "\n" + file.endIndex() + "\n" + rows + "\n"
                + sizeBytes + "\n" + sha256 + "\n" + file + "\n";
    }

    /// Reads a signed note's text; null where it is not exactly a version 1 seal.
    public static @Nullable FileSeal parse(String text) {
        String[] lines = text.split("\n", -1);
        if (lines.length != LINES + 1 || !lines[4].matches(DECIMAL) || !lines[5].matches(DECIMAL)) {
            return null;
        }
        DataFileName file = DataFileName.parse(lines[7]);
        if (file == null) {
            return null;
        }
        try {
            var seal = new FileSeal(
                    new RunId(lines[1]),
                    file,
                    Long.parseLong(lines[4]),
                    Long.parseLong(lines[5]),
                    Hash.ofHex(lines[6]));
            return seal.text().equals(text) ? seal : null;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
