package blackbox.query.otlp;

import blackbox.evidence.store.Recordings;
import blackbox.query.answer.LimitCollector;
import blackbox.query.answer.TouchedCollector;
import blackbox.query.run.RunFacts;
import blackbox.query.why.CallTies;
import blackbox.query.why.CausedCollector;
import blackbox.schemas.Release;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.NetView;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A run as a trace of OpenTelemetry: a root span `invoke_agent` for the run, and below it a span for each call of a
/// model, for each tool that was run for one, for each request to an MCP server, and for each program. Each has the
/// index of the event
/// that it stands for (`blackbox.event.index`), which `prove` and `why` take.
public final class RunTrace {

    private static final long CHARS_MAX = 64L << 20;
    private static final int LIMITS_MAX = 100;
    private static final int LIMIT_CHARS_MAX = 1024;

    private final SpanIds ids;
    private final Attributes resource;
    private final List<Span> spans;
    private final Counts counts;
    private final List<String> limits;

    /// Whether arguments of tools and programs and messages of errors are exported.
    public enum Content {
        LEFT_OUT,
        INCLUDED
    }

    /// Whether there are spans of the programs that ran.
    public enum Programs {
        LEFT_OUT,
        INCLUDED
    }

    /// How many spans there are besides the root.
    ///
    /// @param leftOut how many calls, tools and programs should have one and have none, as the limits say
    public record Counts(long models, long tools, long mcp, long programs, long leftOut) {
        /// Whether the run has nothing to export.
        public boolean areNone() {
            return models + tools + mcp + programs + leftOut == 0;
        }
    }

    private RunTrace(SpanIds ids, Attributes resource, List<Span> spans, Counts counts, List<String> limits) {
        this.ids = ids;
        this.resource = resource;
        this.spans = List.copyOf(spans);
        this.counts = counts;
        this.limits = List.copyOf(limits);
    }

    /// The trace of what is recorded of `run` now. Reads it four times.
    public static RunTrace collect(Recordings recordings, RunId run, Content content, Programs which)
            throws IOException {
        return collect(recordings, run, content, which, CHARS_MAX);
    }

    /// @param charsMax about how many characters the spans of calls have together at most, and those of programs
    static RunTrace collect(Recordings recordings, RunId run, Content content, Programs which, long charsMax)
            throws IOException {
        CallTies ties = CausedCollector.ties(recordings, run);
        var ids = new SpanIds(run);
        var calls = new CallSpans(ids, ties, content, charsMax);
        var programs = new ProgramSpans(ids, ties, content, charsMax);
        var seen = new Seen(calls, which == Programs.INCLUDED ? programs : null);
        RunFacts facts = TouchedCollector.read(recordings, run, seen::see);
        var limits = new LinkedHashSet<>(seen.limits.limits(facts));
        limits.addAll(ties.limits());
        limits.addAll(calls.limits());
        Span root = root(facts, ids, calls.provider(), seen.lastNs);
        var spans = new ArrayList<>(calls.below(root));
        Set<String> known = spans.stream().map(Span::id).collect(Collectors.toSet());
        spans.addAll(programs.below(root, known, root == null ? seen.lastNs : root.endNs()));
        limits.addAll(programs.limits());
        List<String> said = List.copyOf(limits);
        Counts counts = new Counts(
                calls.models(), calls.tools(), calls.mcp(), programs.count(), calls.leftOut() + programs.leftOut());
        return new RunTrace(ids, resource(facts, said), spans, counts, said);
    }

    private static final class Seen {
        private final CallSpans calls;
        private final @Nullable ProgramSpans programs;
        private final LimitCollector limits = new LimitCollector();
        private long lastNs;

        Seen(CallSpans calls, @Nullable ProgramSpans programs) {
            this.calls = calls;
            this.programs = programs;
        }

        void see(EventView event, long index) {
            limits.see(event, index);
            if (event.isByHost()) {
                lastNs = Math.max(lastNs, event.atNs()); // a guest may date its events as it likes
            }
            if (event instanceof NetView net) {
                calls.see(net, index);
            } else if (programs != null) {
                programs.see(event, index);
            }
        }
    }

    /// Null if the run's first event is not there. A run without an end ends with the last event that there is.
    private static @Nullable Span root(RunFacts facts, SpanIds ids, @Nullable String provider, long lastNs) {
        RunFacts.Start start = facts.start();
        RunFacts.End end = facts.end();
        if (start == null || start.atNs() < 0) {
            return null;
        }
        String failed = end == null ? null : failure(end);
        Attributes attributes = ids.event(0, Kind.RUN_OPEN)
                .put("gen_ai.operation.name", "invoke_agent")
                .put("gen_ai.provider.name", provider)
                .put(
                        "process.exit.code",
                        end == null || end.exitCode() == null
                                ? null
                                : (Long) end.exitCode().longValue())
                .put("error.type", failed);
        return new Span(
                ids.span(0),
                null,
                "invoke_agent",
                Span.Kind.INTERNAL,
                start.atNs(),
                Math.max(start.atNs(), end == null ? lastNs : end.atNs()),
                new Span.Details(
                        attributes, List.of(), List.of(), failed == null ? null : new Span.Failure(failed, null)));
    }

    private static @Nullable String failure(RunFacts.End end) {
        if (end.signal() != null) {
            return "signal_" + end.signal();
        }
        return end.exitCode() == null || end.exitCode() == 0 ? null : "exit_" + end.exitCode();
    }

    private static Attributes resource(RunFacts facts, List<String> limits) {
        RunFacts.Imported imported = facts.imported();
        var said = new ArrayList<String>();
        for (String limit : limits) {
            if (said.size() == LIMITS_MAX) {
                said.add("and " + (limits.size() - LIMITS_MAX) + " more");
                break;
            }
            said.add(limit.length() <= LIMIT_CHARS_MAX ? limit : limit.substring(0, LIMIT_CHARS_MAX) + "…");
        }
        return new Attributes()
                .put("service.name", "blackbox")
                .put("service.version", Release.VERSION)
                .put("blackbox.run", facts.run().value())
                .put("blackbox.run.name", facts.name())
                .put("blackbox.run.state", facts.state().name())
                .put("blackbox.run.trusted", imported == null ? null : (Boolean) imported.trusted())
                .putTexts("blackbox.limits", said);
    }

    /// The trace's id in hex: the bits of the run's.
    public String id() {
        return ids.trace();
    }

    /// How many spans there are.
    public Counts counts() {
        return counts;
    }

    /// What may be missing, in sentences; the trace's resource has them, too.
    public List<String> limits() {
        return limits;
    }

    Attributes resource() {
        return resource;
    }

    List<Span> spans() {
        return spans;
    }

    /// Writes it as lines of OTLP/JSON, in the form of OpenTelemetry's file exporter; the caller closes `to`.
    public void write(Writer to) throws IOException {
        for (Part part : (Iterable<Part>) parts()::iterator) {
            to.write(part.json());
            to.write('\n');
        }
        to.flush();
    }

    /// Some of its spans.
    ///
    /// @param json a `TracesData`, which is an `ExportTraceServiceRequest`, too, of less than 1 MiB in
    ///     UTF-8
    /// @param spans how many
    public record Part(String json, int spans) {}

    /// All of it; a part is made when it is asked for.
    public Stream<Part> parts() {
        return OtlpJson.parts(this);
    }
}
