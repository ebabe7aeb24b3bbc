package blackbox.query.sql;

import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.time.Duration;

/// Stops a query that takes too long, also while its rows are read: the driver's own timeout ends with the
/// execution, which of a streamed result is before most of its rows. The engine is interrupted while it
/// executes, and whoever reads rows asks before each; what the engine does for the next row of a streamed
/// result, the driver cannot interrupt.
final class QueryDeadline implements AutoCloseable {
    private static final Duration AGAIN = Duration.ofMillis(200);

    private final long endNs;
    private final Thread watch;

    private QueryDeadline(Statement statement, Duration timeout) {
        endNs = System.nanoTime() + timeout.toNanos();
        // Not a virtual thread: the query's native code holds the thread that would carry it.
        watch = Thread.ofPlatform().daemon().name("query deadline").start(() -> {
            try {
                Thread.sleep(timeout);
                while (true) { // one that comes between two rows stops nothing
                    statement.cancel();
                    Thread.sleep(AGAIN);
                }
            } catch (InterruptedException e) {
                // it is done
            } catch (SQLException e) {
                // closed meanwhile
            }
        });
    }

    static QueryDeadline over(Statement statement, Duration timeout) {
        return new QueryDeadline(statement, timeout);
    }

    /// @throws SQLTimeoutException when it has passed
    void check() throws SQLTimeoutException {
        if (System.nanoTime() - endNs >= 0) {
            throw new SQLTimeoutException("INTERRUPT: the query took too long");
        }
    }

    @Override
    public void close() {
        watch.interrupt();
    }
}
