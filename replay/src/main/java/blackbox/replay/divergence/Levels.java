package blackbox.replay.divergence;

import blackbox.replay.divergence.align.Aligner;
import blackbox.replay.divergence.align.Edit;
import blackbox.replay.divergence.align.StrandPair;
import blackbox.replay.divergence.cause.Side;
import blackbox.replay.divergence.strand.EventLookup;
import blackbox.replay.divergence.strand.EventLookup.Facts;
import blackbox.replay.divergence.strand.Token;
import blackbox.replay.divergence.strand.Token.Reach;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Which of the differences between two sides are effects, and which are only another path to the same effects.
///
/// A difference that reaches no further than looking is of the path. One in a change to a file of the disk is an effect
/// if that file is different in the end, or if it is not known what the sides left. All others are effects.
final class Levels {
    private static final int SHOWN_EFFECTS_MAX = 20;
    private static final int LOOKED_UP_MAX = 64;
    private static final String NOTHING = "nothing";

    private final Set<Edit> effectEdits = Collections.newSetFromMap(new IdentityHashMap<>());
    private final List<EffectDifference> effects = new ArrayList<>();
    private final EventLookup recorded;
    private final EventLookup actual;
    private long pathDifferences;
    private long count;

    private Levels(Side recorded, Side actual) {
        this.recorded = new EventLookup(recorded.events());
        this.actual = new EventLookup(actual.events());
    }

    /// Sorts them.
    ///
    /// @param left how the files differ that they left, or null if that is not known
    /// @param exact whether every difference counts as an effect
    static Levels of(Aligner aligner, Side recorded, Side actual, LeftFiles.@Nullable Result left, boolean exact)
            throws IOException {
        var levels = new Levels(recorded, actual);
        levels.sort(aligner, left, lowest(aligner, left, exact));
        if (left != null) {
            levels.count += left.count();
            levels.effects.addAll(left.differences());
        }
        return levels;
    }

    /// From how far on a difference is an effect.
    private static Reach lowest(Aligner aligner, LeftFiles.@Nullable Result left, boolean exact) {
        if (exact || aligner.isShortOfDifferences()) {
            return Reach.PATH;
        }
        return left == null || aligner.isAnythingMounted() ? Reach.DISK : Reach.EFFECT;
    }

    private record Place(StrandPair pair, Edit edit, Reach reach) {
        long order() {
            Token here = edit.hereExpected();
            Edit.Agreed agreed = edit.agreed();
            return here != null
                    ? here.index()
                    : agreed == null ? 0 : agreed.expected().index() + 1;
        }
    }

    private void sort(Aligner aligner, LeftFiles.@Nullable Result left, Reach lowest) throws IOException {
        var places = new ArrayList<Place>();
        for (StrandPair pair : aligner.divergent()) {
            pair.edits().forEach(edit -> places.add(new Place(pair, edit, pair.reach(edit))));
        }
        places.sort(Comparator.comparingLong(Place::order));
        Set<String> differing = left == null
                ? Set.of()
                : left.differences().stream()
                        .map(EffectDifference::subject)
                        .collect(Collectors.toCollection(HashSet::new));
        int lookedUp = 0;
        for (Place place : places) {
            if (place.reach().compareTo(lowest) >= 0) {
                effectEdits.add(place.edit());
                count++;
                show(place, lowest);
                continue;
            }
            boolean mayBeAbout = place.reach() == Reach.DISK && !differing.isEmpty() && lookedUp++ < LOOKED_UP_MAX;
            if (mayBeAbout && isAbout(place.edit(), differing)) {
                effectEdits.add(place.edit()); // counted and shown with its file
            } else {
                pathDifferences++;
            }
        }
    }

    /// Whether the first change to the disk of either side is one to any of these.
    private boolean isAbout(Edit edit, Set<String> paths) throws IOException {
        Facts was = facts(recorded, telling(edit.expected(), Reach.DISK));
        Facts is = facts(actual, telling(edit.actual(), Reach.DISK));
        return was != null && paths.contains(String.valueOf(was.path()))
                || is != null && paths.contains(String.valueOf(is.path()));
    }

    private void show(Place place, Reach lowest) throws IOException {
        if (effects.size() >= SHOWN_EFFECTS_MAX) {
            return;
        }
        Edit edit = place.edit().withoutRace();
        Facts was = facts(recorded, telling(edit.expected(), lowest));
        Facts is = facts(actual, telling(edit.actual(), lowest));
        Facts one = was == null ? is : was;
        if (one != null) {
            effects.add(new EffectDifference(
                    kind(one), subject(one), was == null ? NOTHING : was.line(), is == null ? NOTHING : is.line()));
        }
    }

    /// The first token that is an effect, or else the first.
    private static @Nullable Token telling(List<Token> tokens, Reach lowest) {
        return tokens.stream()
                .filter(token -> token.reach().compareTo(lowest) >= 0)
                .findFirst()
                .orElse(tokens.isEmpty() ? null : tokens.getFirst());
    }

    private static String subject(Facts facts) {
        String path = facts.path();
        return path != null ? path : facts.who();
    }

    private static EffectDifference.Kind kind(Facts facts) {
        return switch (facts.kind()) {
            case PROCESS_EXEC, PROCESS_FORK, PROCESS_RUNNING -> EffectDifference.Kind.PROGRAM;
            case PROCESS_EXIT -> EffectDifference.Kind.EXIT;
            default -> other(facts.kind().eventName());
        };
    }

    private static EffectDifference.Kind other(String kind) {
        if (kind.startsWith("file.")) {
            return EffectDifference.Kind.FILE;
        }
        if (kind.startsWith("net.") || kind.startsWith("dns.")) {
            return EffectDifference.Kind.NETWORK;
        }
        return kind.startsWith("cred.") || kind.startsWith("privilege.")
                ? EffectDifference.Kind.PRIVILEGE
                : EffectDifference.Kind.OTHER;
    }

    private static @Nullable Facts facts(EventLookup events, @Nullable Token token) throws IOException {
        return token == null ? null : events.facts(token.index());
    }

    /// Whether a difference in events is an effect.
    boolean isEffect(Edit edit) {
        return effectEdits.contains(edit);
    }

    /// Whether a difference in events is an effect anywhere.
    boolean hasEvents() {
        return !effectEdits.isEmpty();
    }

    /// How many places differ in the path alone.
    long pathDifferences() {
        return pathDifferences;
    }

    /// How many effects differ.
    long count() {
        return count;
    }

    /// The first of these: those in events, in their order, then files.
    List<EffectDifference> effects() {
        return effects;
    }
}
