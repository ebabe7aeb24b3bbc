package blackbox.replay.divergence;

import blackbox.replay.divergence.align.Aligner;
import blackbox.replay.divergence.align.Edit;
import blackbox.replay.divergence.cause.Candidate;
import blackbox.replay.divergence.cause.CausalScan;
import blackbox.replay.divergence.cause.Causes;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.divergence.cause.Side;
import blackbox.replay.divergence.cause.UneventfulCauses;
import blackbox.replay.divergence.strand.Deed;
import blackbox.replay.divergence.strand.EventCursor;
import blackbox.replay.divergence.strand.EventLookup;
import blackbox.replay.divergence.strand.EventLookup.Facts;
import blackbox.replay.divergence.strand.Token;
import blackbox.replay.divergence.text.KeyedHash;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.FileView;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Finds, among the strands that differ, the one to which no other led, and what led to it.
final class Explanation {

    private static final int CANDIDATES_MAX = 62;
    private static final int EFFECTS_MAX = 40;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern FAN = Pattern.compile("/objects/([0-9a-f]{2})(?:/|$)");
    private static final String PARTED = "the path had parted before: recorded ";
    private static final String NOTHING = "nothing more in this thread or process";

    private final KeyedHash hash;
    private final Side recorded;
    private final Side actual;
    private final EventLookup recordedEvents;
    private final EventLookup actualEvents;
    private final AlignmentSettings settings;

    Explanation(KeyedHash hash, Side recorded, Side actual, AlignmentSettings settings) {
        this.hash = hash;
        this.recorded = recorded;
        this.actual = actual;
        this.settings = settings;
        this.recordedEvents = new EventLookup(recorded.asRecorded());
        this.actualEvents = new EventLookup(actual.asRecorded());
    }

    /// A divergence, and the difference in events that it is.
    record Explained(DivergencePoint point, Edit edit) {}

    /// The first divergence of sides of which an effect differs.
    ///
    /// @param effects the differences that are effects, at least one; the others are only the path
    Explained explain(Aligner aligner, Predicate<Edit> effects) throws IOException {
        return explain(aligner, effects, false);
    }

    /// The first difference of sides that differ only in their path.
    ///
    /// @param ids of git's objects that are proven to differ only by their times, one side's by the other's
    /// @param only whether no file is different either
    DivergencePoint ofPath(Aligner aligner, Map<String, String> ids, boolean only) throws IOException {
        DivergencePoint point = explain(aligner, _ -> true, only).point();
        Facts was = recordedEvents.facts(point.index());
        Facts is = actualEvents.facts(point.actualIndex());
        if (!only || point.reason() != DivergenceClass.UNEXPLAINED || was == null || is == null) {
            return point;
        }
        Map.Entry<String, String> object = object(fan(was), fan(is), ids);
        return object == null
                ? point
                : because(
                        point,
                        DivergenceClass.CLOCK,
                        List.of("it is about an object of git's, whose id follows from the time in it: "
                                + object.getKey() + " and " + object.getValue()
                                + " are proven to differ in nothing else"));
    }

    /// The folder of an object of git's that an event is about: the first two letters of its id.
    private static @Nullable String fan(Facts facts) {
        Matcher fan = FAN.matcher(String.valueOf(facts.path()));
        return fan.find() ? fan.group(1) : null;
    }

    private static Map.@Nullable Entry<String, String> object(
            @Nullable String one, @Nullable String other, Map<String, String> ids) {
        return one == null || other == null || one.equals(other)
                ? null
                : ids.entrySet().stream()
                        .filter(each ->
                                each.getKey().startsWith(one) && each.getValue().startsWith(other)
                                        || each.getKey().startsWith(other)
                                                && each.getValue().startsWith(one))
                        .findFirst()
                        .orElse(null);
    }

    private static DivergencePoint because(DivergencePoint point, DivergenceClass reason, List<String> causes) {
        return new DivergencePoint(
                point.index(),
                point.actualIndex(),
                reason,
                point.expected(),
                point.actual(),
                causes,
                point.lastAgreed(),
                point.recordedContext(),
                point.actualContext());
    }

    private Explained explain(Aligner aligner, Predicate<Edit> effects, boolean pathOnly) throws IOException {
        List<Candidate> candidates = candidates(aligner, effects);
        List<Causes.NetworkChange> network = networkChanges(candidates);
        CausalScan before = scan(recorded, candidates, network, true);
        CausalScan beforeActual = scan(actual, candidates, network, false);
        Candidate found = effect(candidates, effects, before, beforeActual);
        Candidate effect = aligner.isClosed(Aligner.ACTUAL) ? found : missBefore(found, candidates);
        Candidate path = path(effect, candidates, before, beforeActual);
        Causes.Found why = causes(aligner, path, network, before, beforeActual, pathOnly);
        if (path.bit() == effect.bit()) {
            return new Explained(first(effect, why), effect.edit());
        }
        if (why.reason() == DivergenceClass.UNEXPLAINED) {
            why = causes(aligner, effect, network, before, beforeActual, pathOnly);
        }
        var causes = new ArrayList<String>();
        Facts was = facts(recordedEvents, path.edit().hereExpected());
        Facts is = facts(actualEvents, path.edit().hereActual());
        causes.add(parted(line(was, is), line(is, was)));
        causes.addAll(why.causes());
        return new Explained(first(effect, new Causes.Found(why.reason(), causes)), effect.edit());
    }

    private Causes.Found causes(
            Aligner aligner,
            Candidate root,
            List<Causes.NetworkChange> network,
            CausalScan before,
            CausalScan beforeActual,
            boolean pathOnly)
            throws IOException {
        var evidence = new Causes.Evidence(
                root,
                new Causes.SideEvidence(
                        recorded,
                        aligner.known(Aligner.RECORDED),
                        recordedEvents,
                        before,
                        before.historyOf(root.recordedIndex())),
                new Causes.SideEvidence(
                        actual,
                        aligner.known(Aligner.ACTUAL),
                        actualEvents,
                        beforeActual,
                        beforeActual.historyOf(root.actualIndex())),
                network,
                aligner.divergent(),
                pathOnly);
        return new Causes(hash, evidence, settings.exact()).find();
    }

    /// The first effect and the first other difference of each strand; the earliest of each, effects above all.
    private static List<Candidate> candidates(Aligner aligner, Predicate<Edit> effects) {
        var chosen = new ArrayList<>(firsts(aligner, effects, EFFECTS_MAX));
        chosen.addAll(firsts(aligner, effects.negate(), CANDIDATES_MAX - chosen.size()));
        chosen.sort(Comparator.comparingLong(Candidate::place));
        var candidates = new ArrayList<Candidate>();
        for (Candidate each : chosen) {
            candidates.add(new Candidate(1L << candidates.size(), each.pair(), each.edit(), each.place()));
        }
        return candidates;
    }

    private static List<Candidate> firsts(Aligner aligner, Predicate<Edit> wanted, int most) {
        return aligner.divergent().stream()
                .flatMap(pair -> pair.edits().stream()
                        .filter(wanted)
                        .findFirst()
                        .map(edit -> new Candidate(0, pair, edit, aligner.placeOf(edit)))
                        .stream())
                .sorted(Comparator.comparingLong(Candidate::place))
                .limit(most)
                .toList();
    }

    /// Flows to the same peer that received something else, and questions that were answered differently.
    private List<Causes.NetworkChange> networkChanges(List<Candidate> candidates) throws IOException {
        var changes = new ArrayList<Causes.NetworkChange>();
        for (Candidate candidate : candidates) {
            Edit edit = candidate.edit();
            if (!candidate.isNetwork()
                    || edit.expected().isEmpty()
                    || edit.actual().isEmpty()) {
                continue;
            }
            Facts was = recordedEvents.facts(edit.expected().getFirst().index());
            Facts is = actualEvents.facts(edit.actual().getFirst().index());
            boolean same = was != null
                    && is != null
                    && was.deed() instanceof Deed.Flowed before
                    && is.deed() instanceof Deed.Flowed now
                    && before.bytesIn() == now.bytesIn();
            if (was != null && is != null && !same) {
                changes.add(new Causes.NetworkChange(candidate, was, is));
            }
        }
        return changes;
    }

    private static CausalScan scan(
            Side side, List<Candidate> candidates, List<Causes.NetworkChange> network, boolean first)
            throws IOException {
        Map<Long, Long> places = new HashMap<>();
        long until = 0;
        for (Candidate candidate : candidates) {
            long index = first ? candidate.recordedIndex() : candidate.actualIndex();
            if (index >= 0) {
                places.merge(index, candidate.bit(), (one, two) -> one | two);
                until = Math.max(until, index);
            }
        }
        var watched = new ArrayList<CausalScan.Watched>();
        for (Causes.NetworkChange change : network) {
            Facts flow = first ? change.expected() : change.actual();
            Deed.Peer peer = flow.deed() instanceof Deed.Flowed flowed ? flowed.peer() : null;
            if (flow.deed() instanceof Deed.Flowed flowed && peer != null) {
                watched.add(new CausalScan.Watched(
                        peer.ip(),
                        peer.port(),
                        flowed.localPort(),
                        change.candidate().bit()));
            }
        }
        return new CausalScan(places, watched).scan(side.events(), until);
    }

    /// The first effect. A difference in the network is an input, not a difference in what the run did; it is the
    /// divergence only if there is no other.
    private static Candidate effect(
            List<Candidate> candidates, Predicate<Edit> effects, CausalScan before, CausalScan beforeActual) {
        List<Candidate> all =
                candidates.stream().filter(each -> effects.test(each.edit())).toList();
        List<Candidate> own = all.stream().filter(each -> !each.isNetwork()).toList();
        return first(own.isEmpty() ? all : own, before, beforeActual);
    }

    /// The first difference of the path that led to an effect; the effect itself if there is none.
    private static Candidate path(
            Candidate effect, List<Candidate> candidates, CausalScan before, CausalScan beforeActual) {
        long causes = led(effect, before, beforeActual);
        List<Candidate> chain = candidates.stream()
                .filter(each -> each.bit() == effect.bit() || (causes & each.bit()) != 0 && !each.isNetwork())
                .toList();
        return first(chain, before, beforeActual);
    }

    /// The earliest candidate to which no other one led on either side.
    private static Candidate first(List<Candidate> candidates, CausalScan before, CausalScan beforeActual) {
        for (Candidate candidate : candidates) {
            long causes = led(candidate, before, beforeActual);
            boolean free = candidates.stream()
                    .noneMatch(other -> other.bit() != candidate.bit()
                            && (causes & other.bit()) != 0
                            && (led(other, before, beforeActual) & candidate.bit()) == 0);
            if (free) {
                return candidate;
            }
        }
        return candidates.getFirst();
    }

    /// For a replay that was ended at an unanswered request: that request, if it came before `found`; otherwise
    /// `found`. What the agent still did until it was ended is not a divergence of its own.
    private Candidate missBefore(Candidate found, List<Candidate> candidates) throws IOException {
        Facts here = actualEvents.facts(found.actualIndex());
        for (Candidate candidate : candidates) {
            Facts miss = isMiss(candidate) ? actualEvents.facts(candidate.actualIndex()) : null;
            if (miss != null && (here == null || miss.atNs() <= here.atNs())) {
                return candidate;
            }
        }
        return found;
    }

    private static boolean isMiss(Candidate candidate) {
        Token actually = candidate.edit().hereActual();
        return actually != null && actually.sort() == Token.Sort.MISS;
    }

    private static long led(Candidate candidate, CausalScan before, CausalScan beforeActual) {
        return before.historyOf(candidate.recordedIndex()).divergences()
                | beforeActual.historyOf(candidate.actualIndex()).divergences();
    }

    private static String parted(String expected, String actual) {
        return PARTED + expected + ", then " + actual;
    }

    /// The divergence at a change to a file that is different in the end: if nothing that was seen explains it
    /// but that programs which ran side by side changed that file in another order, that is why.
    ///
    /// @param file null if the divergence is something else
    DivergencePoint ofWriters(DivergencePoint point, @Nullable EffectDifference file) throws IOException {
        boolean open = point.reason() == DivergenceClass.UNEXPLAINED || point.reason() == DivergenceClass.RANDOM;
        String race = file == null || !open
                ? null
                : new UneventfulCauses(hash, recorded, actual).raceOfWriters(file.subject());
        if (race == null) {
            return point;
        }
        var causes = new ArrayList<String>();
        causes.add(race);
        point.causes().stream().filter(cause -> cause.startsWith(PARTED)).forEach(causes::add);
        return because(point, DivergenceClass.SCHED, causes);
    }

    /// A file that is different in the end, though no event says why.
    ///
    /// @param path where the path differs first, or null
    DivergencePoint ofFile(EffectDifference file, @Nullable DivergencePoint path) throws IOException {
        long index = lastChange(recorded, file.subject());
        long actualIndex = lastChange(actual, file.subject());
        Causes.Found why = new UneventfulCauses(hash, recorded, actual).ofFile(file.subject(), index);
        var causes = new ArrayList<>(why.causes());
        if (path != null) {
            causes.add(parted(path.expected(), path.actual()));
            causes.addAll(path.causes());
        }
        return new DivergencePoint(
                Math.max(0, index),
                Math.max(0, actualIndex),
                why.reason() != DivergenceClass.UNEXPLAINED || path == null ? why.reason() : path.reason(),
                file.subject() + ": " + file.expected(),
                file.subject() + ": " + file.actual(),
                causes,
                null,
                index < 0 ? List.of() : recordedEvents.context(index, settings.context()),
                actualIndex < 0 ? List.of() : actualEvents.context(actualIndex, settings.context()));
    }

    /// Index of the last event that may have changed what is at a path; -1 if there is none.
    private static long lastChange(Side side, String path) throws IOException {
        var views = new EventViews();
        long last = -1;
        try (EventCursor cursor = side.events().open(0)) {
            while (cursor.next()) {
                boolean there = views.of(cursor.row()) instanceof FileView file
                        && file.mayChange()
                        && (path.equals(String.valueOf(file.path()))
                                || file instanceof FileView.ToName named
                                        && path.equals(String.valueOf(named.pathTo())));
                last = there ? cursor.index() : last;
            }
        }
        return last;
    }

    private DivergencePoint first(Candidate root, Causes.Found found) throws IOException {
        Edit edit = root.edit();
        Edit.Agreed agreed = edit.agreed();
        long asked = asked(root);
        if (asked >= 0) {
            return new DivergencePoint(
                    asked,
                    root.actualIndex(),
                    found.reason(),
                    line(recordedEvents.facts(asked), null),
                    line(actualEvents.facts(root.actualIndex()), null),
                    found.causes(),
                    null,
                    recordedEvents.context(asked, settings.context()),
                    actualEvents.context(root.actualIndex(), settings.context()));
        }
        long index = orElse(root.recordedIndex(), agreed == null ? null : agreed.expected(), root.place());
        long actualIndex = orElse(root.actualIndex(), agreed == null ? null : agreed.actual(), root.place());
        Facts was = facts(recordedEvents, edit.hereExpected());
        Facts is = facts(actualEvents, edit.hereActual());
        Facts last =
                agreed == null ? null : recordedEvents.facts(agreed.expected().index());
        return new DivergencePoint(
                index,
                actualIndex,
                found.reason(),
                line(was, is),
                line(is, was),
                found.causes(),
                agreed == null || last == null
                        ? null
                        : new DivergencePoint.Agreed(
                                agreed.expected().index(), agreed.actual().index(), last.line()),
                recordedEvents.context(index, settings.context()),
                actualEvents.context(actualIndex, settings.context()));
    }

    private static long orElse(long index, @Nullable Token agreed, long otherwise) {
        return index >= 0 ? index : agreed != null ? agreed.index() : otherwise;
    }

    /// If the root is a request that the recording does not answer: the index of the recorded call to the same
    /// peer that has the same number, since the replay ended at that request, or else of the last one. -1 if the
    /// root is anything else.
    private long asked(Candidate root) throws IOException {
        if (!isMiss(root)) {
            return -1;
        }
        String detail = actualEvents.missed(root.actualIndex());
        JsonNode remote = JSON.readTree(detail == null ? "{}" : detail).path("remote");
        String ip = remote.path("ip").asText();
        long port = remote.path("port").asLong();
        return recordedEvents.call(ip, port, Math.max(1, actualEvents.calls(ip, port)));
    }

    private static @Nullable Facts facts(EventLookup events, @Nullable Token token) throws IOException {
        return token == null ? null : events.facts(token.index());
    }

    /// An event's line, with what it does not show otherwise and tells it from the other one.
    private static String line(@Nullable Facts facts, @Nullable Facts beside) {
        return facts == null ? NOTHING : facts.lineBeside(beside);
    }
}
