package blackbox.replay.divergence.align;

import blackbox.replay.divergence.strand.Strand;
import blackbox.replay.divergence.strand.Token;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Finds what the threads of one process did on both sides, only in a different order or in another thread: which
/// thread of a pool takes the next task, and which completion an event loop sees first, depends on timing.
///
/// An act on one side cancels the same act on the other anywhere in the process, except where order matters: a
/// thread's own changes to files must be at the same place, and acts on a file that was changed must be in the
/// same order. Owned by one thread.
final class Interleaving {

    private final AgreedChanges changes;
    private final BiConsumer<Token, Token> agreed;

    /// @param changes those that agreed
    /// @param agreed takes each two tokens that cancel each other, the recorded side's first
    Interleaving(AgreedChanges changes, BiConsumer<Token, Token> agreed) {
        this.changes = changes;
        this.agreed = agreed;
    }

    private record Act(StrandPair strand, Token token) {}

    private record Match(Act recorded, Act actual) {
        long subject() {
            return recorded.token().subject();
        }

        boolean isChangeOfOneThread() {
            return recorded.token().writes() && recorded.strand() == actual.strand();
        }
    }

    /// Removes from the pairs' differences what was only done in a different order; returns whether there was any.
    boolean settle(Collection<StrandPair> pairs) {
        Map<Long, List<StrandPair>> processes = new LinkedHashMap<>();
        for (StrandPair pair : pairs) {
            if (isOfProcess(pair.strand()) && !pair.isWithoutEdits() && pair.isWhole()) {
                processes
                        .computeIfAbsent(pair.strand().process(), _ -> new ArrayList<>())
                        .add(pair);
            }
        }
        boolean any = false;
        for (Map.Entry<Long, List<StrandPair>> process : processes.entrySet()) {
            Set<Token> settled = settled(process.getKey(), process.getValue());
            any |= !settled.isEmpty();
            process.getValue().forEach(pair -> pair.without(settled));
            StrandPair.addUp(process.getKey(), process.getValue(), changes);
        }
        return any;
    }

    /// Whether it is a process's own strand or one of its threads.
    static boolean isOfProcess(Strand strand) {
        return strand.sort() == Strand.Sort.PROCESS || strand.sort() == Strand.Sort.THREAD;
    }

    private Set<Token> settled(long process, List<StrandPair> strands) {
        List<Match> matches = matches(acts(strands, Aligner.RECORDED), acts(strands, Aligner.ACTUAL));
        Set<Long> inOrder = inOrder(process, matches);
        Set<Token> settled = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Match match : matches) {
            if (inOrder.contains(match.subject())) {
                Token recorded = match.recorded().token();
                Token actual = match.actual().token();
                agreed.accept(recorded, actual);
                settled.add(recorded);
                settled.add(actual);
            }
        }
        return settled;
    }

    /// What only that side has, in the order of its record. Without events whose made-up names have no known
    /// counterpart, since it is not known which file they are about, and without turning points, whose place
    /// matters.
    private static List<Act> acts(List<StrandPair> strands, int side) {
        var acts = new ArrayList<Act>();
        for (StrandPair strand : strands) {
            for (Edit edit : strand.edits()) {
                List<Token> tokens = side == Aligner.RECORDED ? edit.expected() : edit.actual();
                tokens.stream()
                        .filter(token -> token.names().openCount() == 0)
                        .filter(token -> token.sort() != Token.Sort.TURNING_POINT)
                        .forEach(token -> acts.add(new Act(strand, token)));
            }
        }
        acts.sort(Comparator.comparingLong(act -> act.token().index()));
        return acts;
    }

    /// Within a thread first, then across threads.
    private static List<Match> matches(List<Act> recorded, List<Act> actual) {
        var matches = new ArrayList<Match>();
        List<Act> rest = match(recorded, actual, act -> new Key(act.token().canon(), act.strand()), matches);
        Set<Act> taken = Collections.newSetFromMap(new IdentityHashMap<>());
        matches.forEach(match -> taken.add(match.actual()));
        List<Act> others = actual.stream().filter(act -> !taken.contains(act)).toList();
        match(rest, others, act -> new Key(act.token().canon(), null), matches);
        matches.sort(Comparator.comparingLong(match -> match.recorded().token().index()));
        return matches;
    }

    private record Key(long canon, @Nullable StrandPair strand) {}

    /// Matches acts with equal keys in their order; returns what is left of the recorded ones.
    private static List<Act> match(List<Act> recorded, List<Act> actual, Function<Act, Key> key, List<Match> matches) {
        Map<Key, Deque<Act>> same = new HashMap<>();
        for (Act act : actual) {
            same.computeIfAbsent(key.apply(act), _ -> new ArrayDeque<>()).add(act);
        }
        var rest = new ArrayList<Act>();
        for (Act act : recorded) {
            Deque<Act> others = same.get(key.apply(act));
            Act other = others == null ? null : others.poll();
            if (other == null) {
                rest.add(act);
            } else {
                matches.add(new Match(act, other));
            }
        }
        return rest;
    }

    /// The files that were used in the same order, where order matters, and 0 for what is about no file.
    private Set<Long> inOrder(long process, List<Match> matches) {
        Set<Long> subjects = new HashSet<>();
        Set<Long> changed = new HashSet<>();
        Set<Long> swapped = new HashSet<>();
        Set<Long> otherwise = new HashSet<>();
        Map<Long, Long> last = new HashMap<>();
        for (Match match : matches) {
            long subject = match.subject();
            long index = match.actual().token().index();
            subjects.add(subject);
            if (match.recorded().token().writes()) {
                changed.add(subject);
            }
            Long before = last.put(subject, index);
            if (before != null && before > index) {
                swapped.add(subject);
            }
            boolean inPlace = changes.isInOrder(
                    process, match.recorded().token(), match.actual().token());
            if (match.isChangeOfOneThread() || !inPlace) {
                otherwise.add(subject);
            }
        }
        swapped.retainAll(changed);
        subjects.removeAll(swapped);
        subjects.removeAll(otherwise);
        return subjects;
    }
}
