package blackbox.cli.output;

import blackbox.cli.exit.CommandException;
import java.io.PrintWriter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What a command that runs for long says on standard error: sentences for people, or a JSON object on each line for
/// collectors of logs.
public sealed interface ServiceLog {

    /// @param form `text` or `json`
    /// @throws CommandException when it is another
    static ServiceLog in(String form, PrintWriter err) {
        return switch (form) {
            case "text" -> new Text(err);
            case "json" -> new Json();
            default -> throw CommandException.badInput("the form of the log is text or json, not '" + form + "'");
        };
    }

    /// Something about the service that its start found or chose.
    void started(String fact);

    void info(String event);

    /// Something that somebody should look at.
    void warn(String event);

    /// Sentences.
    record Text(PrintWriter err) implements ServiceLog {
        @Override
        public void started(String fact) {
            err.println(fact);
        }

        @Override
        public void info(String event) {
            err.println("blackbox: " + event);
        }

        @Override
        public void warn(String event) {
            info(event);
        }
    }

    /// Those of Logback, like what libraries say, which comes between them.
    final class Json implements ServiceLog {
        private final Logger log;

        private Json() {
            // Read by logback.xml when the first logger is made.
            System.setProperty("blackbox.log", "json");
            log = LoggerFactory.getLogger("blackbox");
        }

        @Override
        public void started(String fact) {
            log.info("{}", fact);
        }

        @Override
        public void info(String event) {
            log.info("{}", event);
        }

        @Override
        public void warn(String event) {
            log.warn("{}", event);
        }
    }
}
