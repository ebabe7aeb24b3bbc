package blackbox.schemas.table;

import blackbox.schemas.row.Column;
import org.jspecify.annotations.Nullable;

/// One column of the table. `source` is the leaf column that it stores, or null for a column that is not in the
/// leaf.
public record TableColumn(
        String name,
        int fieldId,
        TableType type,
        boolean required,
        @Nullable Column source) {

    /// Added to a list column's field id to get that of its elements.
    private static final int ELEMENT_IDS = 200;

    public TableColumn {
        if (name.isEmpty() || fieldId <= 0 || fieldId >= ELEMENT_IDS) {
            throw new IllegalArgumentException("not a table column: '" + name + "' with field id " + fieldId);
        }
    }

    /// Field id of a list's elements.
    ///
    /// @throws IllegalStateException when this column is not a list
    public int elementFieldId() {
        if (type != TableType.STRING_LIST) {
            throw new IllegalStateException(name + " is not a list");
        }
        return ELEMENT_IDS + fieldId;
    }
}
