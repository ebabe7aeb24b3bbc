package blackbox.query.sql;

import java.util.List;

/// A table that queries may read.
public record TableDescription(String name, String description, List<ColumnDescription> columns) {

    public TableDescription {
        columns = List.copyOf(columns);
    }

    /// A column and its SQL type.
    public record ColumnDescription(String name, String type) {}
}
