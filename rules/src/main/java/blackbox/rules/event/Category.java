package blackbox.rules.event;

import blackbox.rules.event.Field.Derived;
import blackbox.rules.event.Field.OfColumn;
import blackbox.rules.event.Field.OfDetail;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/// Which events a rule is about, and what it may ask of them: a category of Sigma's for Linux, or (product
/// `blackbox`) a kind of event, of which it may ask every column and every value of its detail.
public sealed interface Category {

    String word();

    /// The kinds of its events.
    Set<Kind> kinds();

    /// The field with that name in rules.
    Optional<Field> field(String name);

    /// What a word without a field is looked for in.
    List<Field> searched();

    /// The names of all fields, for people.
    String fieldNames();

    /// A kind of event.
    record OfKind(Kind kind) implements Category {
        private static final String DETAIL = "detail.";

        /// What is about the table and not about the event.
        private static final Set<Column> NOT_ASKED = EnumSet.of(Column.PREVIOUS, Column.KIND);

        @Override
        public String word() {
            return kind.eventName();
        }

        @Override
        public Set<Kind> kinds() {
            return Set.of(kind);
        }

        @Override
        public Optional<Field> field(String name) {
            if (name.startsWith(DETAIL) && name.length() > DETAIL.length()) {
                return Optional.of(new OfDetail(name.substring(DETAIL.length())));
            }
            for (Column column : Column.values()) {
                if (column.columnName().equals(name) && !NOT_ASKED.contains(column)) {
                    return Optional.of(new OfColumn(column));
                }
            }
            return Optional.ofNullable(DERIVED.get(name));
        }

        /// Who did it, of any event of a process.
        private static final Map<String, Field> DERIVED = Map.of(
                "Image", Derived.IMAGE,
                "CommandLine", Derived.COMMAND_LINE,
                "ParentImage", Derived.PARENT_IMAGE,
                "ParentCommandLine", Derived.PARENT_COMMAND_LINE,
                "TargetFilename", Derived.TARGET_FILENAME,
                "DestinationHostname", Derived.DESTINATION_HOSTNAME);

        @Override
        public List<Field> searched() {
            return List.of(
                    new OfColumn(Column.WHAT),
                    new OfColumn(Column.PATH),
                    new OfColumn(Column.HOST),
                    new OfColumn(Column.DETAIL));
        }

        @Override
        public String fieldNames() {
            var names = new ArrayList<String>(new TreeSet<>(DERIVED.keySet()));
            for (Column column : Column.values()) {
                if (!NOT_ASKED.contains(column)) {
                    names.add(column.columnName());
                }
            }
            return String.join(", ", names) + ", detail.NAME";
        }
    }

    /// A category of Sigma's. Acts of what runs the agent in the guest, and acts that failed, are in none of them.
    enum Sigma implements Category {
        PROCESS_CREATION,
        /// A file came to be under a name.
        FILE_EVENT,
        FILE_ACCESS,
        FILE_CHANGE,
        FILE_DELETE,
        FILE_RENAME,
        NETWORK_CONNECTION,
        DNS_QUERY;

        private static final Map<String, Field> OF_PROCESSES = Map.of(
                "Image", Derived.IMAGE,
                "CommandLine", Derived.COMMAND_LINE,
                "ParentImage", Derived.PARENT_IMAGE,
                "ParentCommandLine", Derived.PARENT_COMMAND_LINE,
                "User", Derived.USER,
                "ProcessId", new OfColumn(Column.PID),
                "ParentProcessId", new OfColumn(Column.PPID));

        private static final Map<String, Field> OF_FILES =
                Map.of("TargetFilename", Derived.TARGET_FILENAME, "SourceFilename", new OfColumn(Column.PATH));

        private static final Map<String, Field> OF_CONNECTIONS = Map.of(
                "DestinationIp", new OfColumn(Column.REMOTE_IP),
                "DestinationPort", new OfColumn(Column.REMOTE_PORT),
                "SourceIp", new OfColumn(Column.LOCAL_IP),
                "SourcePort", new OfColumn(Column.LOCAL_PORT),
                "Protocol", new OfColumn(Column.PROTOCOL),
                "DestinationHostname", Derived.DESTINATION_HOSTNAME,
                "Initiated", Derived.INITIATED);

        private static final Map<String, Field> OF_QUERIES =
                Map.of("QueryName", new OfColumn(Column.HOST), "QueryResults", new OfColumn(Column.ANSWERS));

        public static Optional<Category> of(String word) {
            for (Sigma category : values()) {
                if (category.word().equals(word)) {
                    return Optional.of(category);
                }
            }
            return Optional.empty();
        }

        @Override
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        @Override
        public Set<Kind> kinds() {
            return switch (this) {
                case PROCESS_CREATION -> Set.of(Kind.PROCESS_EXEC);
                case FILE_EVENT ->
                    Set.of(Kind.FILE_OPEN, Kind.FILE_RENAME, Kind.FILE_LINK, Kind.FILE_SYMLINK, Kind.FILE_MKNOD);
                case FILE_ACCESS -> Set.of(Kind.FILE_OPEN);
                case FILE_CHANGE ->
                    Set.of(Kind.FILE_CHMOD, Kind.FILE_CHOWN, Kind.FILE_UTIME, Kind.FILE_CHATTR, Kind.FILE_XATTR);
                case FILE_DELETE -> Set.of(Kind.FILE_UNLINK);
                case FILE_RENAME -> Set.of(Kind.FILE_RENAME);
                case NETWORK_CONNECTION -> Set.of(Kind.NET_CONNECT, Kind.NET_SEND);
                case DNS_QUERY -> Set.of(Kind.DNS_QUERY);
            };
        }

        private Map<String, Field> own() {
            return switch (this) {
                case PROCESS_CREATION -> Map.of("CurrentDirectory", new OfColumn(Column.CWD));
                case FILE_EVENT, FILE_ACCESS, FILE_CHANGE, FILE_DELETE, FILE_RENAME -> OF_FILES;
                case NETWORK_CONNECTION -> OF_CONNECTIONS;
                case DNS_QUERY -> OF_QUERIES;
            };
        }

        @Override
        public Optional<Field> field(String name) {
            Field field = own().get(name);
            return Optional.ofNullable(field == null ? OF_PROCESSES.get(name) : field);
        }

        @Override
        public List<Field> searched() {
            return switch (this) {
                case PROCESS_CREATION -> List.of(Derived.COMMAND_LINE, Derived.IMAGE);
                case FILE_EVENT, FILE_ACCESS, FILE_CHANGE, FILE_DELETE, FILE_RENAME -> List.of(Derived.TARGET_FILENAME);
                case NETWORK_CONNECTION -> List.of(Derived.DESTINATION_HOSTNAME);
                case DNS_QUERY -> List.of(new OfColumn(Column.HOST));
            };
        }

        @Override
        public String fieldNames() {
            var names = new TreeSet<>(OF_PROCESSES.keySet());
            names.addAll(own().keySet());
            return String.join(", ", names);
        }
    }
}
