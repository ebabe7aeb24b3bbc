package blackbox.query.sql;

import blackbox.evidence.store.LeftOut;
import blackbox.evidence.store.Recordings;
import blackbox.query.QueryException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// A result as a Parquet file, through a private temporary folder, the only place to which the engine may
/// then write.
public final class ParquetExport {

    private ParquetExport() {}

    /// Runs one `SELECT` and copies its result to `out`.
    public static List<LeftOut> write(Recordings recordings, SqlLimits limits, String sql, OutputStream out)
            throws QueryException, IOException {
        Path folder = Files.createTempDirectory("blackbox-query-");
        Path file = folder.resolve("result.parquet");
        try (SqlEngine engine = SqlEngine.open(recordings, limits, folder)) {
            engine.export(sql, file);
            Files.copy(file, out);
            out.flush();
            return engine.leftOut();
        } finally {
            Files.deleteIfExists(file);
            Files.deleteIfExists(folder);
        }
    }
}
