package blackbox.gateway.egress;

import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Asks a passage for a connection that is not HTTP, or that is not any more. Once stopped, it stays so. Owned by the
/// loop.
public final class Metered {
    private final Passage passage;
    private final Consumer<Ruling> told;
    private boolean stopped;
    private boolean over;

    /// @param told takes each ruling
    public Metered(Passage passage, Consumer<Ruling> told) {
        this.passage = passage;
        this.told = told;
    }

    /// Of a connection that nothing is asked of.
    public static Metered free() {
        return new Metered(Passage.FREE, ruling -> {});
    }

    /// Whether it may begin.
    public boolean begins() {
        return passes(passage::begins);
    }

    /// Whether so many octets may leave.
    public boolean sends(long octets) {
        return passes(() -> passage.sends(octets));
    }

    /// Whether so many octets may go to the guest.
    public boolean receives(long octets) {
        return passes(() -> passage.receives(octets));
    }

    private boolean passes(Supplier<@Nullable Ruling> question) {
        if (stopped) {
            return false;
        }
        Ruling ruling = question.get();
        if (ruling != null) {
            stopped = ruling.stops();
            told.accept(ruling);
        }
        return !stopped;
    }

    /// Nothing more is asked. May be called again.
    public void over() {
        if (!over) {
            over = true;
            stopped = true;
            passage.over();
        }
    }
}
