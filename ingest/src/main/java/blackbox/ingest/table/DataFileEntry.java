package blackbox.ingest.table;

import blackbox.schemas.RunId;
import blackbox.schemas.table.DataFileName;
import java.nio.file.Path;

/// A data file that is part of the table.
public record DataFileEntry(RunId run, DataFileName name, Path path, long rows, long sizeBytes) {}
