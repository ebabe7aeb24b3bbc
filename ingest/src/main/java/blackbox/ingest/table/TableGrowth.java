package blackbox.ingest.table;

import blackbox.ingest.IngestException;
import blackbox.ingest.IngestException.Code;
import blackbox.schemas.table.EventsTable;
import org.apache.iceberg.HasTableOperations;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.types.Types.NestedField;

/// Compares an existing table with the columns of this version: a table from an older version gets the
/// columns that it lacks, and one from a newer version is refused.
final class TableGrowth {

    private TableGrowth() {}

    /// Checks that this version knows everything that the table has.
    ///
    /// @throws IngestException `CATALOG` if a newer version created it, or another program changed it
    static void requireKnown(Table table) throws IngestException {
        String version = table.properties().get(IcebergSchema.VERSION_PROPERTY);
        if (!Integer.toString(EventsTable.VERSION).equals(version)) {
            throw refused(
                    table,
                    "has version " + version + ", but this version of Blackbox supports version "
                            + EventsTable.VERSION);
        }
        for (NestedField field : table.schema().columns()) {
            NestedField known = IcebergSchema.SCHEMA.findField(field.fieldId());
            if (known == null) {
                throw refused(
                        table,
                        "has a column `" + field.name() + "` (field id " + field.fieldId()
                                + ") that this version does not know");
            }
            if (!known.equals(field)) {
                throw refused(table, "has a column " + field + " where this version has " + known);
            }
        }
    }

    private static IngestException refused(Table table, String what) {
        return new IngestException(
                Code.CATALOG,
                "a newer version of Blackbox created the table in " + table.location()
                        + ", or another program changed it: it " + what + "; use that version or a later one");
    }

    /// Adds the columns that the table lacks, by their own field ids, in one commit through the catalog.
    /// Existing rows have no value in them. Iceberg's `UpdateSchema` would number the columns itself.
    static void addColumns(Table table) {
        Schema current = table.schema();
        boolean whole =
                IcebergSchema.SCHEMA.columns().stream().allMatch(column -> current.findField(column.fieldId()) != null);
        if (!whole) {
            TableOperations operations = ((HasTableOperations) table).operations();
            TableMetadata metadata = operations.current();
            operations.commit(metadata, metadata.updateSchema(IcebergSchema.SCHEMA));
            table.refresh();
        }
    }
}
