package blackbox.replay.divergence.strand;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

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
    final long within;
    long process;
    private long digest;
    private long number;

    /// Whether it belongs to a thread of the kernel that has executed no program; such threads come and go
    /// depending on timing.
    boolean ofKernel;

    private List<Token> held = new ArrayList<>();
    private long key;
    private long next;
    private @Nullable Object attachment;

    Strand(Sort sort, long group, long process, long parent) {
        this(sort, group, process, parent, 0);
    }

    /// @param within distinguishes the strands of one sort that its owner has, as their peers do for flows
    Strand(Sort sort, long group, long process, long parent, long within) {
        this.within = within;
        this.sort = sort;
        this.group = group;
        this.process = process;
        this.parent = parent;
    }

    public Sort sort() {
        return sort;
    }

    /// Key of the process that it belongs to (its own, for a process), 0 for the host's.
    public long process() {
        return process;
    }

    /// Key of the process that started this one.
    public long parent() {
        return parent;
    }

    /// What its key was made of, but for its owner: of two strands whose owners are the same it tells whether they are.
    ///
    /// @param digest of what it is
    /// @param number among those of its owner that are the same
    public record Kin(Sort sort, long owner, long within, long digest, long number) {

        /// The same for whatever it is.
        public Kin anyOf() {
            return new Kin(sort, owner, within, 0, 0);
        }
    }

    /// Its kin, if its owner stands for `owner`.
    public Kin kin(long owner) {
        return new Kin(sort, owner, within, digest, number);
    }

    /// Key of the process that has it, or that started it.
    public long owner() {
        return sort == Sort.PROCESS ? parent : process;
    }

    public long key() {
        return key;
    }

    /// What its reader keeps with it, which spares it a look-up for each event; null if nothing.
    public @Nullable Object attachment() {
        return attachment;
    }

    public void attach(@Nullable Object kept) {
        attachment = kept;
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
    List<Token> name(long fixed, long what, long place) {
        digest = what;
        number = place;
        key = fixed == 0 ? 1 : fixed;
        List<Token> tokens = held;
        held = List.of();
        return tokens;
    }
}
