package blackbox.query.sql;

import blackbox.evidence.text.Printable;
import java.io.PrintWriter;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A result as CSV (RFC 4180): a header, then a line for each row, nulls empty. Control characters and backslashes are
/// written as `\xHH`, see [Printable]: guests choose what paths and arguments contain, and terminals and spreadsheets
/// would interpret it.
public final class CsvResult implements ResultSink {

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
        boolean quoted = text.chars().anyMatch(c -> c == ',' || c == '"');
        return quoted ? '"' + text.replace("\"", "\"\"") + '"' : text;
    }

    @Override
    public void end() {
        out.flush();
    }
}
