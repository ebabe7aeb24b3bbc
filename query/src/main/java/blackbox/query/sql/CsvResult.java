package blackbox.query.sql;

import java.io.PrintWriter;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A result as CSV (RFC 4180): a header, then a line for each row, nulls empty.
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
        String text = value == null ? "" : value.toString();
        boolean quoted = text.chars().anyMatch(c -> c == ',' || c == '"' || c < ' ');
        return quoted ? '"' + text.replace("\"", "\"\"") + '"' : text;
    }

    @Override
    public void end() {
        out.flush();
    }
}
