package blackbox.node.mcp;

import blackbox.query.QueryException;
import blackbox.query.sql.JsonResult;
import blackbox.query.sql.ResultSink;
import blackbox.query.sql.SqlEngine;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Takes a query's rows until a page is full.
final class RowPage implements ResultSink {
    private final Answer.Page page;
    private List<String> names = List.of();

    RowPage(Answer.Page page) {
        this.page = page;
    }

    /// Ends a query whose further rows nobody takes.
    private static final class FullException extends IOException {
        private static final long serialVersionUID = 1;
    }

    /// Whether these are all rows.
    ///
    /// @param rowsMax how many the engine makes: more than fit
    boolean fill(SqlEngine engine, String select, long rowsMax) throws QueryException, IOException {
        try {
            engine.selectFirst(select, rowsMax, this);
            return true;
        } catch (FullException e) {
            return false;
        }
    }

    @Override
    public void columns(List<String> columns) {
        names = columns;
    }

    @Override
    public void row(List<@Nullable Object> values) throws IOException {
        boolean added = page.add(out -> {
            out.writeStartObject();
            JsonResult.fields(out, names, values);
            out.writeEndObject();
        });
        if (!added) {
            throw new FullException();
        }
    }

    @Override
    public void end() {}
}
