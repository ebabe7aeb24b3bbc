package blackbox.replay.sqlite;

/// A file is no SQLite database that is understood here.
final class DamagedDatabaseException extends Exception {
    private static final long serialVersionUID = 1L;

    DamagedDatabaseException(String why) {
        super(why);
    }

    static void require(boolean holds, String otherwise) throws DamagedDatabaseException {
        if (!holds) {
            throw new DamagedDatabaseException(otherwise);
        }
    }
}
