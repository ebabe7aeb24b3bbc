package blackbox.ingest.table;

import blackbox.schemas.RunId;
import blackbox.schemas.table.EventsTable;
import java.nio.file.Path;

/// Where the parts of the table lie below a data folder.
///
/// @param data the data folder, absolute
public record TableLayout(Path data) {

    public TableLayout {
        data = data.toAbsolutePath().normalize();
    }

    public Path catalog() {
        return data.resolve("catalog.db");
    }

    public Path warehouse() {
        return data.resolve("warehouse");
    }

    public Path table() {
        return warehouse().resolve(EventsTable.NAMESPACE).resolve(EventsTable.NAME);
    }

    /// The folder of all data files.
    public Path dataFiles() {
        return table().resolve("data");
    }

    /// The folder of one run's data files.
    public Path dataFiles(RunId run) {
        return dataFiles().resolve("run=" + run);
    }

    /// Files being written; whatever is here when the table is opened is debris.
    public Path staging() {
        return table().resolve("staging");
    }

    Path lock() {
        return data.resolve("ingest.lock");
    }
}
