package blackbox.evidence.parquet;

import java.io.IOException;

/// A file that is not the Parquet we write. Carries one sentence that says why.
public sealed class MalformedParquetException extends IOException permits NewerFileException {

    private static final long serialVersionUID = 1L;

    public MalformedParquetException(String message) {
        super(message);
    }

    MalformedParquetException(String message, Throwable cause) {
        super(message, cause);
    }
}
