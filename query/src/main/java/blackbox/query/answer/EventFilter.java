package blackbox.query.answer;

import blackbox.evidence.text.Timestamps;
import blackbox.query.QueryException;
import blackbox.query.QueryException.Code;
import blackbox.schemas.event.Actor;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.time.DateTimeException;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Which events are wanted: those of these kinds (all if none is named), at or after `fromNs`, before `toNs`.
///
/// @param actor whose acts: `agent`, `supervisor` or `host`; null for all
public record EventFilter(
        Set<Kind> kinds, long fromNs, long toNs, @Nullable String actor) {

    public static final EventFilter ALL = new EventFilter(Set.of(), Long.MIN_VALUE, Long.MAX_VALUE, null);

    private static final List<String> ACTORS =
            List.of(Actor.AGENT.actorName(), Actor.SUPERVISOR.actorName(), Source.HOST.sourceName());

    public EventFilter {
        kinds = Set.copyOf(kinds);
    }

    /// A filter from what the user wrote. A kind is a whole name, or a family such as `file`; null means no
    /// bound.
    ///
    /// @throws QueryException when a kind or a time is invalid
    public static EventFilter of(Collection<String> kinds, @Nullable String from, @Nullable String to)
            throws QueryException {
        var wanted = EnumSet.noneOf(Kind.class);
        for (String name : kinds) {
            Set<Kind> named = Stream.of(Kind.values())
                    .filter(kind ->
                            kind.eventName().equals(name) || kind.eventName().startsWith(name + "."))
                    .collect(Collectors.toSet());
            if (named.isEmpty()) {
                throw new QueryException(
                        Code.BAD_INPUT, "'" + name + "' is not a kind of event; the kinds are " + allKinds());
            }
            wanted.addAll(named);
        }
        return new EventFilter(
                wanted, from == null ? Long.MIN_VALUE : time(from), to == null ? Long.MAX_VALUE : time(to), null);
    }

    /// The same, of somebody's acts only.
    ///
    /// @throws QueryException when nobody has that name
    public EventFilter by(@Nullable String name) throws QueryException {
        if (name != null && !ACTORS.contains(name)) {
            throw new QueryException(
                    Code.BAD_INPUT, "'" + name + "' is not an actor; choose from " + String.join(", ", ACTORS));
        }
        return new EventFilter(kinds, fromNs, toNs, name);
    }

    private static long time(String text) throws QueryException {
        try {
            return Timestamps.parse(text);
        } catch (DateTimeException | ArithmeticException e) {
            throw new QueryException(
                    Code.BAD_INPUT, "'" + text + "' is not a time; write it like 2026-11-21T09:30:00Z", e);
        }
    }

    private static String allKinds() {
        return Stream.of(Kind.values()).map(Kind::eventName).collect(Collectors.joining(", "));
    }

    /// Whether the row is wanted.
    public boolean accepts(Row row) {
        if (!kinds.isEmpty()) {
            Kind kind = row.has(Column.KIND) ? Kind.ofCode(row.number(Column.KIND)) : null;
            if (kind == null || !kinds.contains(kind)) {
                return false;
            }
        }
        if (actor != null && !actor.equals(EventLine.who(row))) {
            return false;
        }
        long atNs = row.has(Column.AT_NS) ? row.number(Column.AT_NS) : Long.MIN_VALUE;
        return atNs >= fromNs && (atNs < toNs || toNs == Long.MAX_VALUE);
    }
}
