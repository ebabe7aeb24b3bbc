package blackbox.schemas.table;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Name of a data file: `<first index>-<end index>-<8 hex digits>.parquet`, the numbers in 19 digits so that
/// names sort as rows do. The hex digits are random; they distinguish a file that was never committed from
/// its successor.
public record DataFileName(long firstIndex, long endIndex, String token) {

    /// The suffix that a seal's name adds to that of its data file.
    public static final String SEAL_SUFFIX = ".seal";

    private static final Pattern FORM = Pattern.compile("([0-9]{19})-([0-9]{19})-([0-9a-f]{8})\\.parquet");
    private static final Pattern TOKEN = Pattern.compile("[0-9a-f]{8}");

    public DataFileName {
        if (firstIndex < 0 || endIndex <= firstIndex || !TOKEN.matcher(token).matches()) {
            throw new IllegalArgumentException("no data file holds [" + firstIndex + ", " + endIndex + ") as " + token);
        }
    }

    /// Reads a name; null if it is not one.
    public static @Nullable DataFileName parse(String name) {
        Matcher matcher = FORM.matcher(name);
        if (!matcher.matches()) {
            return null;
        }
        try {
            return new DataFileName(
                    Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2)), matcher.group(3));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /// Name of the seal beside the file.
    public String sealName() {
        return this + SEAL_SUFFIX;
    }

    @Override
    public String toString() {
        return "%019d-%019d-%s.parquet".formatted(firstIndex, endIndex, token);
    }
}
