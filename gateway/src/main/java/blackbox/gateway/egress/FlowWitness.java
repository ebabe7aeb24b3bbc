package blackbox.gateway.egress;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/// Knows which connections the guest's own kernel began, and for which program, as somebody in the guest tells.
/// A first segment alone can be anybody's who may send frames.
public interface FlowWitness {

    /// Knows nothing, and holds nothing for that.
    FlowWitness NONE = new FlowWitness() {
        @Override
        public CompletionStage<Optional<Begun>> begun(FirstSegment first) {
            return CompletableFuture.completedFuture(Optional.empty());
        }

        @Override
        public boolean holds() {
            return false;
        }
    };

    /// The first segment of a connection of TCP.
    ///
    /// @param sequence its number, 0 to 2^32 - 1
    record FirstSegment(Flow flow, long sequence) {}

    /// A connection that the guest's kernel began.
    ///
    /// @param exe the absolute path of the program that did; null if it is not known
    record Begun(@Nullable String exe) {}

    /// What the guest tells of a connection that begins with this segment; empty if it does not in time. Called
    /// on the gateway's loop, which it must not block; may complete later, on any thread, and the guest waits.
    /// A stage that fails counts as empty.
    CompletionStage<Optional<Begun>> begun(FirstSegment first);

    /// Whether connections of which the guest does not tell are refused.
    boolean holds();
}
