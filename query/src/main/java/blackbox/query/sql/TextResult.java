package blackbox.query.sql;

import blackbox.evidence.text.Printable;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A result as a table for people. The first rows decide how wide the columns are.
public final class TextResult implements ResultSink {

    private static final int ROWS_MEASURED = 200;
    private static final int CELL_CHARS_MAX = 80;

    private final PrintWriter out;
    private final List<List<String>> waiting = new ArrayList<>();
    private int[] widths = new int[0];
    private boolean measured;
    private long rows;

    public TextResult(PrintWriter out) {
        this.out = out;
    }

    @Override
    public void columns(List<String> names) {
        widths = new int[names.size()];
        waiting.add(names);
    }

    @Override
    public void row(List<@Nullable Object> values) {
        var cells = new ArrayList<String>();
        for (Object value : values) {
            cells.add(value == null ? "" : Printable.of(value.toString(), CELL_CHARS_MAX));
        }
        rows++;
        if (measured) {
            print(cells);
        } else {
            waiting.add(cells);
            if (waiting.size() > ROWS_MEASURED) {
                flush();
            }
        }
    }

    private void flush() {
        for (List<String> cells : waiting) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], cells.get(i).length());
            }
        }
        print(waiting.getFirst());
        var rule = new ArrayList<String>();
        for (int width : widths) {
            rule.add("-".repeat(width));
        }
        print(rule);
        waiting.stream().skip(1).forEach(this::print);
        waiting.clear();
        measured = true;
    }

    private void print(List<String> cells) {
        var line = new StringBuilder();
        for (int i = 0; i < cells.size(); i++) {
            line.append(cells.get(i))
                    .repeat(' ', Math.max(0, widths[i] - cells.get(i).length()) + 2);
        }
        out.println(line.toString().stripTrailing());
    }

    @Override
    public void end() {
        if (!measured) {
            flush();
        }
        out.println("(" + rows + (rows == 1 ? " row)" : " rows)"));
        out.flush();
    }
}
