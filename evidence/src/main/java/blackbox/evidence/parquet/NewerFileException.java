package blackbox.evidence.parquet;

/// A data file with a column that this version does not know, written by a newer version. This says nothing
/// about the file's integrity: its leaves cannot be computed here.
public final class NewerFileException extends MalformedParquetException {

    private static final long serialVersionUID = 1L;

    NewerFileException(String column) {
        super("it has a column `" + column + "` that this version of Blackbox does not know: a newer version wrote it;"
                + " read it with that version or a later one");
    }
}
