package blackbox.node.mcp;

import blackbox.query.sql.JsonResult;
import blackbox.query.sql.ResultSink;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A query's rows as the elements of a page.
final class RowPage implements ResultSink {
    private final Answer.Page page;
    private List<String> names = List.of();

    RowPage(Answer.Page page) {
        this.page = page;
    }

    @Override
    public void columns(List<String> columns) {
        names = columns;
    }

    @Override
    public void row(List<@Nullable Object> values) throws IOException {
        page.take(out -> {
            out.writeStartObject();
            JsonResult.fields(out, names, values);
            out.writeEndObject();
        });
    }

    @Override
    public void end() {}
}
