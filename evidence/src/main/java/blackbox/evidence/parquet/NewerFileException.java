package blackbox.evidence.parquet;

/// A data file with a column that this version does not know, as a newer version writes it. Nothing is said
/// about the file's truth: its leaves cannot be computed here.
public final class NewerFileException extends MalformedParquetException {

    private static final long serialVersionUID = 1L;

    NewerFileException(String column) {
        super("it has a column `" + column + "` that this version of Blackbox does not know; a newer version wrote it,"
                + " so read it with that version or a later one");
    }
}
