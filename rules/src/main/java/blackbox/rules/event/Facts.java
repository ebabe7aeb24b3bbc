package blackbox.rules.event;

import blackbox.rules.event.Field.Derived;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.ProcessView;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The values of an event's fields, with what the events before it told of its process and of names. Owned by one
/// thread.
public final class Facts {

    /// `connect` does not wait: it is under way (EINPROGRESS).
    private static final long UNDER_WAY = -115;

    private final EventViews views = new EventViews();
    private final ProcessTable processes = new ProcessTable();
    private final NameTable names = new NameTable();
    private EventView event = views.of(new Row());
    private ProcessTable.@Nullable Entry process;
    private @Nullable JsonNode detail;

    /// Takes a run's next event; its values are there until the next call.
    public void see(Row row) {
        event = views.of(row);
        process = null;
        detail = null;
        switch (event) {
            case ProcessView of -> process = processes.see(of);
            case NetView.Dns query -> names.see(query);
            default -> {}
        }
    }

    /// The event's kind, or null if this version does not know it.
    public @Nullable Kind kind() {
        return event.kind();
    }

    /// When, nanoseconds since 1970-01-01 UTC.
    public long atNs() {
        return event.atNs();
    }

    /// Whether the event is one of those that rules of a category are about.
    public boolean isOf(Category category) {
        return switch (category) {
            case Category.OfKind(Kind kind) -> kind == event.kind();
            case Category.Sigma sigma ->
                sigma.kinds().contains(event.kind())
                        && !event.isBySupervisor()
                        && (!event.failed() || event.ret() == UNDER_WAY && sigma == Category.Sigma.NETWORK_CONNECTION)
                        && (sigma != Category.Sigma.FILE_EVENT
                                || event.kind() != Kind.FILE_OPEN
                                || "1".equals(text(Column.CREATED)));
        };
    }

    /// A field's value; null if the event has none.
    public @Nullable String value(Field field) {
        return switch (field) {
            case Field.OfColumn(Column column) -> text(column);
            case Field.OfDetail(String key) -> inDetail(key);
            case Derived derived -> derived(derived);
        };
    }

    private @Nullable String derived(Derived field) {
        return switch (field) {
            case IMAGE -> process().program().image();
            case COMMAND_LINE -> process().program().commandLine();
            case PARENT_IMAGE -> process().parent().image();
            case PARENT_COMMAND_LINE -> process().parent().commandLine();
            case USER -> {
                String uid = text(Column.UID);
                yield "0".equals(uid) ? "root" : uid;
            }
            case TARGET_FILENAME ->
                text(event.kind() == Kind.FILE_RENAME || event.kind() == Kind.FILE_LINK ? Column.PATH_TO : Column.PATH);
            case DESTINATION_HOSTNAME -> names.of(text(Column.REMOTE_IP));
            case INITIATED -> event.kind() == Kind.NET_ACCEPT ? "false" : "true";
        };
    }

    /// What the event's process ran when it did this.
    private ProcessTable.Entry process() {
        if (process == null) {
            process = processes.of(event.process());
        }
        return process;
    }

    private @Nullable String text(Column column) {
        Row row = event.row();
        if (!row.has(column)) {
            return null;
        }
        if (column == Column.SOURCE) {
            return (event.isByHost() ? Source.HOST : Source.GUEST).sourceName();
        }
        return switch (column.type()) {
            case INT, LONG -> Long.toString(row.number(column));
            case STRING -> row.text(column).toString();
            case STRING_LIST -> ProcessTable.joined(row.list(column));
            case BYTES -> null;
        };
    }

    private @Nullable String inDetail(String key) {
        if (detail == null) {
            detail = DetailValue.read(text(Column.DETAIL));
        }
        return DetailValue.of(Objects.requireNonNull(detail), key);
    }
}
