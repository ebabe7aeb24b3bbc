package blackbox.replay.divergence.strand;

import java.util.ArrayList;
import java.util.List;

/// What happened one after the other on one side: a thread, a flow, the host's view of one name. Its key is the
/// same on both sides when it is the same strand, whatever numbers the kernel assigned; it is fixed when enough is
/// known.
public final class Strand {

    /// What kind of strand.
    public enum Sort {
        PROCESS(31),
        THREAD(32),
        GUEST_FLOW(33),
        HOST_FLOW(34),
        DNS(35),
        HOST(36);

        /// Distinguishes the groups of one owner.
        final long code;

        Sort(long code) {
            this.code = code;
        }
    }

    final Sort sort;
    final long group;
    final long parent;
    long process;

    /// Whether it belongs to a thread of the kernel that has executed no program; such threads come and go
    /// depending on timing.
    boolean ofKernel;

    private List<Token> held = new ArrayList<>();
    private long key;
    private long next;

    Strand(Sort sort, long group, long process, long parent) {
        this.sort = sort;
        this.group = group;
        this.process = process;
        this.parent = parent;
    }

    public Sort sort() {
        return sort;
    }

    /// Key of what it belongs to together with its sort: strands that have no counterpart are paired within a
    /// group.
    public long group() {
        return group;
    }

    /// Key of the process that it belongs to (its own, for a process), 0 for the host's.
    public long process() {
        return process;
    }

    /// Key of the process that started this one.
    public long parent() {
        return parent;
    }

    public long key() {
        return key;
    }

    boolean isNamed() {
        return key != 0;
    }

    /// The place of the next token.
    long nextOrdinal() {
        return next++;
    }

    void hold(Token token) {
        held.add(token);
    }

    List<Token> held() {
        return held;
    }

    /// Fixes the key and returns the tokens held so far.
    List<Token> name(long fixed) {
        key = fixed == 0 ? 1 : fixed;
        List<Token> tokens = held;
        held = List.of();
        return tokens;
    }
}
