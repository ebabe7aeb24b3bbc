package blackbox.query.sql;

import blackbox.evidence.text.Printable;
import java.io.PrintWriter;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A result as CSV (RFC 4180): a header, then a line for each row, nulls empty. Control characters and
/// backslashes are written as `\xHH`, see [Printable], and so is the first character of a text that a
/// spreadsheet would take for a formula: guests choose what paths and arguments contain, and terminals and
/// spreadsheets would interpret it.
public final class CsvResult implements ResultSink {

    /// What begins a formula, in either width, at the start of a cell: some spreadsheets divide lines at
    /// semicolons.
    private static final Pattern FORMULA = Pattern.compile("(^|;)([=+\\-@\uff1d\uff0b\uff0d\uff20])");

    private final PrintWriter out;

    public CsvResult(PrintWriter out) {
        this.out = out;
    }

    @Override
    public void columns(List<String> names) {
        line(names);
    }

    @Override
    public void row(List<@Nullable Object> values) {
        line(values);
    }

    private void line(List<? extends @Nullable Object> values) {
        out.print(values.stream().map(CsvResult::field).collect(Collectors.joining(",")));
        out.print("\r\n");
    }

    private static String field(@Nullable Object value) {
        String text = value == null ? "" : Printable.of(value.toString());
        if (value instanceof String) {
            text = FORMULA.matcher(text).replaceAll(CsvResult::escaped);
        }
        boolean quoted = text.chars().anyMatch(c -> c == ',' || c == '"');
        return quoted ? '"' + text.replace("\"", "\"\"") + '"' : text;
    }

    private static String escaped(MatchResult formula) {
        char first = formula.group(2).charAt(0);
        return formula.group(1) + (first < 0x80 ? "\\\\x%02x" : "\\\\u%04x").formatted((int) first);
    }

    @Override
    public void end() {
        out.flush();
    }
}
