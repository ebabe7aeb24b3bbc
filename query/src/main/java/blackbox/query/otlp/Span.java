package blackbox.query.otlp;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A span of OTLP (`opentelemetry.proto.trace.v1.Span`).
///
/// @param id of 8 octets in hex
/// @param parent the id of the span that it is below; null for a root
/// @param startNs since 1970, like `endNs`, which is not before it
record Span(String id, @Nullable String parent, String name, Kind kind, long startNs, long endNs, Details details) {

    Span {
        if (startNs < 0 || endNs < startNs) {
            throw new IllegalArgumentException("a span from " + startNs + " to " + endNs);
        }
        name = Attributes.wellFormed(name);
    }

    /// With OTLP's number.
    enum Kind {
        INTERNAL(1),
        CLIENT(3);

        private final int number;

        Kind(int number) {
            this.number = number;
        }

        int number() {
            return number;
        }
    }

    /// What there is to say of it.
    ///
    /// @param failed how it failed; null if it is not known to have
    record Details(
            Attributes attributes,
            List<Event> events,
            List<Link> links,
            @Nullable Failure failed) {
        Details {
            events = List.copyOf(events);
            links = List.copyOf(links);
        }
    }

    /// Something at a moment.
    record Event(String name, long atNs, Attributes attributes) {}

    /// Another span of the same trace that has to do with it.
    record Link(String span, Attributes attributes) {}

    /// Of status `ERROR`.
    ///
    /// @param type `error.type`
    /// @param message in others' words; null if there is none, or none was asked for
    record Failure(String type, @Nullable String message) {
        Failure {
            message = message == null ? null : Attributes.wellFormed(message);
        }
    }

    /// The same below another one, with only those links that lead to spans of `known`.
    Span below(@Nullable String other, Set<String> known) {
        List<Link> links =
                details.links.stream().filter(link -> known.contains(link.span)).toList();
        return new Span(
                id,
                other,
                name,
                kind,
                startNs,
                endNs,
                new Details(details.attributes, details.events, links, details.failed));
    }

    /// About how many characters it is.
    long chars() {
        long chars = 200 + name.length() + details.attributes.chars();
        for (Event event : details.events) {
            chars += 100 + event.attributes.chars();
        }
        for (Link link : details.links) {
            chars += 150 + link.attributes.chars();
        }
        Failure failed = details.failed;
        return chars + (failed == null || failed.message == null ? 0 : failed.message.length());
    }
}
