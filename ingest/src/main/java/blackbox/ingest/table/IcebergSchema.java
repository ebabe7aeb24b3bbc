package blackbox.ingest.table;

import blackbox.schemas.table.EventsTable;
import blackbox.schemas.table.TableColumn;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.NullOrder;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SortOrder;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;

/// The table's description in Iceberg's terms: format version 2, partitioned by run, sorted by run and index.
final class IcebergSchema {

    static final Schema SCHEMA = new Schema(fields());
    static final PartitionSpec PARTITIONS =
            PartitionSpec.builderFor(SCHEMA).identity(EventsTable.RUN.name()).build();
    static final SortOrder SORT_ORDER = SortOrder.builderFor(SCHEMA)
            .asc(EventsTable.RUN.name(), NullOrder.NULLS_FIRST)
            .asc(EventsTable.INDEX.name(), NullOrder.NULLS_FIRST)
            .build();

    /// Table property that holds [EventsTable#VERSION].
    static final String VERSION_PROPERTY = "blackbox.version";

    private static final int FORMAT_VERSION = 2;

    private IcebergSchema() {}

    private static List<Types.NestedField> fields() {
        return EventsTable.COLUMNS.stream().map(IcebergSchema::field).toList();
    }

    private static Types.NestedField field(TableColumn column) {
        Type type = switch (column.type()) {
            case INT -> Types.IntegerType.get();
            case LONG -> Types.LongType.get();
            case STRING -> Types.StringType.get();
            case BINARY -> Types.BinaryType.get();
            case STRING_LIST -> Types.ListType.ofRequired(column.elementFieldId(), Types.StringType.get());
        };
        return column.required()
                ? Types.NestedField.required(column.fieldId(), column.name(), type)
                : Types.NestedField.optional(column.fieldId(), column.name(), type);
    }

    /// Metadata of the empty table. Built here rather than by the catalog, which would give the columns other
    /// field ids.
    static TableMetadata metadata(String location) {
        int lastFieldId = EventsTable.COLUMNS.stream()
                .map(column -> switch (column.type()) {
                    case INT, LONG, STRING, BINARY -> column.fieldId();
                    case STRING_LIST -> column.elementFieldId();
                })
                .max(Comparator.naturalOrder())
                .orElseThrow();
        return TableMetadata.buildFromEmpty(FORMAT_VERSION)
                .assignUUID()
                .setLocation(location)
                .setCurrentSchema(SCHEMA, lastFieldId)
                .setDefaultPartitionSpec(PARTITIONS)
                .setDefaultSortOrder(SORT_ORDER)
                .setProperties(Map.of(
                        VERSION_PROPERTY,
                        Integer.toString(EventsTable.VERSION),
                        "write.parquet.compression-codec",
                        "zstd",
                        "write.metadata.delete-after-commit.enabled",
                        "true",
                        "write.metadata.previous-versions-max",
                        "8"))
                .build();
    }
}
