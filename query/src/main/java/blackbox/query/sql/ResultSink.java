package blackbox.query.sql;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Receives a query's result: the columns once, then each row. Values are null, [Boolean], [Number],
/// [String], or a [List] or [java.util.Map] of those.
public interface ResultSink {

    void columns(List<String> names) throws IOException;

    void row(List<@Nullable Object> values) throws IOException;

    void end() throws IOException;
}
