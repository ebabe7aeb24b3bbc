package blackbox.schemas.view;

import blackbox.schemas.event.Actor;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The event in a row, typed by its kind. A view reads the row on every call and is valid until the row is
/// refilled; it belongs to the thread that owns the row. Null means: not known or not applicable. A missing
/// count is 0.
public abstract sealed class EventView
        permits ProcessView, FileView, NetView, PrivilegeView, RecorderView, VmView, RunView, EventView.Unknown {

    private static final Row NOTHING = new Row();
    private static final Text SUPERVISOR = Text.of(Actor.SUPERVISOR.actorName());

    private Row row = NOTHING;

    EventView() {}

    final EventView over(Row next) {
        row = next;
        return this;
    }

    /// An event of a kind that this version does not know, written by a newer one.
    public static final class Unknown extends EventView {
        Unknown() {}

        /// The kind's code, or 0 if the row has none.
        public long code() {
            return count(Column.KIND);
        }
    }

    /// The columns, for readers that treat all of them alike.
    public final Row row() {
        return row;
    }

    /// The kind, or null if this version does not know it.
    public final @Nullable Kind kind() {
        return Kind.ofCode(count(Column.KIND));
    }

    /// Nanoseconds since 1970-01-01 UTC on the host's clock.
    public final long atNs() {
        return count(Column.AT_NS);
    }

    /// Whether the host saw it.
    public final boolean isByHost() {
        return count(Column.SOURCE) == Source.HOST.code();
    }

    /// Whether the guest saw it.
    public final boolean isByGuest() {
        return count(Column.SOURCE) == Source.GUEST.code();
    }

    /// Whether it is an act of what runs the agent in the guest. An act whose actor is not known counts as the
    /// agent's.
    public final boolean isBySupervisor() {
        return has(Column.ACTOR) && row.text(Column.ACTOR).equals(SUPERVISOR);
    }

    /// The process that caused it, or null if the event names none.
    public final @Nullable ProcessId process() {
        return row.has(Column.PID) && row.has(Column.START_NS)
                ? new ProcessId(row.number(Column.PID), row.number(Column.START_NS))
                : null;
    }

    /// The pid of the process that caused it, or 0 if the event names none.
    public final long pid() {
        return count(Column.PID);
    }

    /// The parent's pid at that time, from the kernel.
    public final @Nullable Long ppid() {
        return number(Column.PPID);
    }

    /// The task's name, at most 15 octets.
    public final @Nullable Text comm() {
        return text(Column.COMM);
    }

    /// Names of values that were cut, each as `name=original size`.
    public final List<Text> truncated() {
        return list(Column.TRUNCATED);
    }

    /// Names of values that could not be read.
    public final List<Text> unread() {
        return list(Column.UNREAD);
    }

    /// Whether the call failed: it returned a negated errno.
    public final boolean failed() {
        return count(Column.RET) < 0;
    }

    /// What the call returned: 0 or more, or a negated errno; 0 if that is not known.
    public final long ret() {
        return count(Column.RET);
    }

    final boolean has(Column column) {
        return row.has(column);
    }

    final long count(Column column) {
        return row.has(column) ? row.number(column) : 0;
    }

    final @Nullable Long number(Column column) {
        return row.has(column) ? Long.valueOf(row.number(column)) : null;
    }

    final @Nullable Text text(Column column) {
        return row.has(column) ? row.text(column) : null;
    }

    final List<Text> list(Column column) {
        return row.has(column) ? row.list(column) : List.of();
    }
}
