package blackbox.gateway.egress;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/// Knows which connections the guest's own kernel began, as somebody in the guest tells. A first segment alone can be
/// anybody's who may send frames.
@FunctionalInterface
public interface FlowWitness {

    /// Takes every connection for begun.
    FlowWitness NOT_ASKED = _ -> CompletableFuture.completedFuture(true);

    /// Whether the guest's kernel began this connection. Called on the gateway's loop, which it must not block; may
    /// complete later, on any thread, and the guest waits. A stage that fails counts as no.
    CompletionStage<Boolean> began(Flow flow);
}
