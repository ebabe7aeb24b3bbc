package blackbox.replay.divergence.strand;

import java.util.HashMap;
import java.util.Map;

/// What one side has reported of a process so far.
final class GuestProcess {

    /// Its key in [Lineage].
    final long id;

    /// Where its events go; named when it executes its program, at the latest when it ends.
    final Strand strand;

    /// Its number as a word, and its parent's, for names that were made from it; 0 where the number is too short
    /// to be recognized.
    final long word;

    final long parentWord;

    /// Its threads but the main one, by thread number.
    final Map<Integer, Strand> threads = new HashMap<>(0);

    /// Its flows that have not ended, by their ports.
    final Map<Long, Strand> flows = new HashMap<>(0);

    /// Its place among all children of its parent, from 1; 0 if its fork was not seen.
    final long birth;

    /// When its first event was, in nanoseconds since 1970.
    final long beganNs;

    /// How many things it has created that have the time in their names.
    long timed;

    private long listens;
    private long forks;

    GuestProcess(long id, Strand strand, long word, long parentWord, long birth, long beganNs) {
        this.id = id;
        this.strand = strand;
        this.word = word;
        this.parentWord = parentWord;
        this.birth = birth;
        this.beganNs = beganNs;
    }

    long nextBirth() {
        return ++forks;
    }

    long nextListen() {
        return listens++;
    }
}
