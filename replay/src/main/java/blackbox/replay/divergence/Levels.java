package blackbox.replay.divergence;

import blackbox.replay.divergence.align.Aligner;
import blackbox.replay.divergence.align.Edit;
import blackbox.replay.divergence.align.StrandPair;
import blackbox.replay.divergence.cause.Side;
import blackbox.replay.divergence.strand.AgreedPeers;
import blackbox.replay.divergence.strand.Deed;
import blackbox.replay.divergence.strand.EventLookup;
import blackbox.replay.divergence.strand.EventLookup.Facts;
import blackbox.replay.divergence.strand.Token;
import blackbox.replay.divergence.strand.Token.Reach;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Which of the differences between two sides are effects, and which are only another path to the same effects.
///
/// A difference that reaches no further than looking is of the path. One in a change to a file of the disk is an effect
/// if that file is different in the end, or if it is not known what the sides left. All others are effects.
final class Levels {
    private static final int SHOWN_EFFECTS_MAX = 20;
    private static final int LOOKED_UP_MAX = 256;
    private static final int LOOKED_UP_CALLS_MAX = 16_384;
    private static final String NOTHING = "nothing";

    private final Set<Edit> effectEdits = Collections.newSetFromMap(new IdentityHashMap<>());
    private final List<EffectDifference> effects = new ArrayList<>();
    private final List<EffectDifference> files = new ArrayList<>();
    private final IdentityHashMap<Edit, EffectDifference> shown = new IdentityHashMap<>();
    private final EventLookup recorded;
    private final EventLookup actual;
    private long pathDifferences;
    private long count;
    private final AgreedPeers agreedPeers;
    private int lookedUp;
    private int lookedUpCalls;

    private Levels(Side recorded, Side actual, AgreedPeers agreedPeers) {
        this.agreedPeers = agreedPeers;
        this.recorded = new EventLookup(recorded.asRecorded());
        this.actual = new EventLookup(actual.asRecorded());
    }

    /// Sorts them.
    ///
    /// @param left how the files differ that they left, or null if that is not known
    /// @param settings whether every difference counts as an effect, and what of the network is known to agree
    static Levels of(
            Aligner aligner, Side recorded, Side actual, LeftFiles.@Nullable Result left, AlignmentSettings settings)
            throws IOException {
        var levels = new Levels(recorded, actual, settings.agreedPeers());
        levels.sort(aligner, left, lowest(aligner, left, settings.exact()));
        if (left != null) {
            levels.count += left.count();
            levels.effects.addAll(left.differences());
            levels.files.addAll(left.differences());
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

    /// @param unkept how far that reaches which was not kept
    private record Place(Edit edit, Reach reach, Reach unkept, long order) {
        static Place of(StrandPair pair, Edit edit, Aligner aligner) {
            return new Place(edit, pair.reach(edit), pair.unkept(edit), aligner.placeOf(edit));
        }
    }

    private void sort(Aligner aligner, LeftFiles.@Nullable Result left, Reach lowest) throws IOException {
        var places = new ArrayList<Place>();
        for (StrandPair pair : aligner.divergent()) {
            pair.edits().forEach(edit -> places.add(Place.of(pair, edit, aligner)));
        }
        places.sort(Comparator.comparingLong(Place::order));
        var differing = new HashMap<String, EffectDifference>();
        if (left != null) {
            left.differences().forEach(each -> differing.put(each.subject(), each));
        }
        for (Place place : places) {
            if (place.reach().compareTo(lowest) >= 0 && !isWithAgreedPeers(place, lowest)) {
                effectEdits.add(place.edit());
                count++;
                show(place, lowest);
                continue;
            }
            boolean mayBeAbout = place.reach() == Reach.DISK && !differing.isEmpty();
            EffectDifference file = mayBeAbout ? fileOf(place.edit(), differing) : null;
            if (file != null) {
                effectEdits.add(place.edit()); // counted and shown with its file
                shown.put(place.edit(), file);
            } else {
                pathDifferences++;
            }
        }
    }

    /// Whether all that it has of effects is about connections to [AgreedPeers].
    private boolean isWithAgreedPeers(Place place, Reach lowest) throws IOException {
        Edit edit = place.edit();
        return !agreedPeers.isEmpty()
                && place.unkept().compareTo(lowest) < 0
                && areConnections(edit.expected(), recorded, lowest)
                && areConnections(edit.actual(), actual, lowest);
    }

    private boolean areConnections(List<Token> tokens, EventLookup events, Reach lowest) throws IOException {
        for (Token token : tokens) {
            if (token.reach().compareTo(lowest) >= 0
                    && (lookedUpCalls++ >= LOOKED_UP_CALLS_MAX || !events.isAbout(token.index(), agreedPeers))) {
                return false;
            }
        }
        return true;
    }

    /// Of these files the first one that a change to the disk is about, of either side, or null.
    private @Nullable EffectDifference fileOf(Edit edit, Map<String, EffectDifference> files) throws IOException {
        EffectDifference file = fileOf(edit.expected(), recorded, files);
        return file != null ? file : fileOf(edit.actual(), actual, files);
    }

    private @Nullable EffectDifference fileOf(
            List<Token> tokens, EventLookup events, Map<String, EffectDifference> files) throws IOException {
        for (Token token : tokens) {
            if (token.reach() == Reach.DISK && lookedUp++ < LOOKED_UP_MAX) {
                Facts facts = facts(events, token);
                EffectDifference file = facts == null ? null : files.get(String.valueOf(facts.path()));
                if (file != null) {
                    return file;
                }
            }
        }
        return null;
    }

    private void show(Place place, Reach lowest) throws IOException {
        if (effects.size() >= SHOWN_EFFECTS_MAX) {
            return;
        }
        Edit edit = place.edit().withoutRace();
        Facts was = facts(recorded, telling(edit.expected(), lowest));
        Facts is = facts(actual, telling(edit.actual(), lowest));
        if (is != null && is.deed() instanceof Deed.Missed) {
            was = null; // what was recorded in its strand is not what was asked for
        }
        Facts one = was == null ? is : was;
        if (one != null) {
            var effect = new EffectDifference(
                    kind(one),
                    one.subject(),
                    was == null ? NOTHING : was.lineBeside(is),
                    is == null ? NOTHING : is.lineBeside(was));
            effects.add(effect);
            shown.put(place.edit(), effect);
        }
    }

    /// The first token that is an effect, or else the first.
    private static @Nullable Token telling(List<Token> tokens, Reach lowest) {
        return tokens.stream()
                .filter(token -> token.reach().compareTo(lowest) >= 0)
                .findFirst()
                .orElse(tokens.isEmpty() ? null : tokens.getFirst());
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

    /// The file that is different in the end and that a difference in events is about, or null.
    @Nullable
    EffectDifference fileOf(Edit edit) {
        EffectDifference file = shown.get(edit);
        return file != null && files.contains(file) ? file : null;
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

    /// The same, with the one before all others that is a difference in events.
    List<EffectDifference> effects(@Nullable Edit first) {
        EffectDifference leading = first == null ? null : shown.get(first);
        if (leading == null || !effects.remove(leading)) {
            return effects;
        }
        effects.addFirst(leading);
        return effects;
    }
}
