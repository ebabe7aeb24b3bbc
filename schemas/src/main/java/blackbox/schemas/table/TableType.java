package blackbox.schemas.table;

/// The type of a table column, in Iceberg's words.
public enum TableType {
    /// Iceberg `int`.
    INT,
    /// Iceberg `long`.
    LONG,
    /// Iceberg `string`: well-formed UTF-8.
    STRING,
    /// Iceberg `binary`.
    BINARY,
    /// Iceberg `list<string>` with required elements.
    STRING_LIST
}
