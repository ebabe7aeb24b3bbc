package blackbox.schemas.table;

import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Column;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The one table: a row per leaf, partitioned by run, sorted by run and index. See `schemas/table.md`.
public final class EventsTable {

    /// Version of the table's layout, stored as the table property `blackbox.version`.
    public static final int VERSION = 1;

    /// Where a data file's footer notes its layout, and the one that is written now: every page is PLAIN or
    /// RLE_DICTIONARY, and there are no page indexes. Files from before have no such note.
    public static final String LAYOUT_KEY = "blackbox.layout";

    public static final String LAYOUT = "2";

    /// Where a data file's footer notes how far its run is with it: the state of its chain, or [#CLOSED].
    /// Of a run's files, the last one's counts.
    public static final String STATE_KEY = "blackbox.state";

    /// The state of a run that is closed.
    public static final String CLOSED = "closed";

    /// Beside a run's data files: its state where no footer has it.
    public static final String STATE_NOTE = "run.state";

    public static final String NAMESPACE = "blackbox";
    public static final String NAME = "events";

    /// The folder of all data files and their seals, below the warehouse.
    public static final String DATA_FOLDER = NAMESPACE + "/" + NAME + "/data";

    /// The run's id; the partition.
    public static final TableColumn RUN = new TableColumn("run", 101, TableType.STRING, true, null);

    /// The leaf's index within the run, from 0, without gaps.
    public static final TableColumn INDEX = new TableColumn("index", 102, TableType.LONG, true, null);

    /// The leaf's octets, only if encoding the columns does not reproduce them.
    public static final TableColumn RAW = new TableColumn("raw", 103, TableType.BINARY, false, null);

    /// In a batch's last row, the signed checkpoint over the run's tree up to and including that row.
    public static final TableColumn CHECKPOINT = new TableColumn("checkpoint", 104, TableType.STRING, false, null);

    /// The columns in the order in which files hold them.
    public static final List<TableColumn> COLUMNS = columns();

    private static final String PARTITION = RUN.name() + "=";

    private EventsTable() {}

    /// The folder of a run's data files and their seals, below the warehouse.
    public static String dataFolder(RunId run) {
        return DATA_FOLDER + "/" + PARTITION + run;
    }

    /// The run whose folder in [#DATA_FOLDER] has that name, or null.
    public static @Nullable RunId runOf(String folderName) {
        try {
            return folderName.startsWith(PARTITION) ? new RunId(folderName.substring(PARTITION.length())) : null;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static List<TableColumn> columns() {
        var columns = new ArrayList<TableColumn>();
        columns.add(RUN);
        columns.add(INDEX);
        for (Column column : Column.values()) {
            columns.add(new TableColumn(column.columnName(), column.fieldId(), typeOf(column), false, column));
        }
        columns.add(RAW);
        columns.add(CHECKPOINT);
        return List.copyOf(columns);
    }

    private static TableType typeOf(Column column) {
        if (storedByName(column)) {
            return TableType.STRING;
        }
        return switch (column.type()) {
            case INT -> TableType.INT;
            case LONG -> TableType.LONG;
            case STRING -> TableType.STRING;
            case BYTES -> TableType.BINARY;
            case STRING_LIST -> TableType.STRING_LIST;
        };
    }

    /// Whether the leaf's number is stored as a name: `kind` and `source`.
    public static boolean storedByName(Column column) {
        return column == Column.KIND || column == Column.SOURCE;
    }

    /// The name under which `kind` or `source` stores a code, or null for a code that has none (the row is then
    /// kept raw).
    public static @Nullable String nameOf(Column column, long code) {
        return switch (column) {
            case KIND -> kindName(code);
            case SOURCE -> sourceName(code);
            default -> throw new IllegalArgumentException(column + " is not stored by name");
        };
    }

    private static @Nullable String kindName(long code) {
        Kind kind = Kind.ofCode(code);
        return kind == null ? null : kind.eventName();
    }

    private static @Nullable String sourceName(long code) {
        for (Source source : Source.values()) {
            if (source.code() == code) {
                return source.sourceName();
            }
        }
        return null;
    }
}
