package blackbox.schemas.row;

/// How a column's value is encoded in a leaf and stored in the table.
public enum ColumnType {
    /// A signed 32-bit number: zigzag varint in the leaf, `int` in the table.
    INT,
    /// A signed 64-bit number: zigzag varint in the leaf, `long` in the table.
    LONG,
    /// Octets that are normally UTF-8: length and octets in the leaf, `string` in the table. Octets that are
    /// not UTF-8 appear as U+FFFD in the table, and the row keeps its leaf in `raw`.
    STRING,
    /// Octets: length and octets in the leaf, `binary` in the table.
    BYTES,
    /// A list of STRING: count, then each element; `list<string>` in the table.
    STRING_LIST
}
