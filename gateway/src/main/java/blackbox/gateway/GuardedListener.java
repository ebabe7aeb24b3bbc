package blackbox.gateway;

import blackbox.gateway.egress.Decision;
import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.FlowEnd;
import blackbox.gateway.egress.GatewayListener;
import blackbox.gateway.egress.HttpExchange;
import java.util.function.Consumer;

/// Sees to it that a listener that fails ends the gateway, wherever it was called: what is not recorded must not
/// happen.
final class GuardedListener implements GatewayListener {
    private final GatewayListener listener;
    private Consumer<Throwable> onFailure = failure -> {};

    GuardedListener(GatewayListener listener) {
        this.listener = listener;
    }

    void onFailure(Consumer<Throwable> action) {
        onFailure = action;
    }

    @Override
    public void decided(Decision decision) {
        guarded(() -> listener.decided(decision));
    }

    @Override
    public void ended(FlowEnd end) {
        guarded(() -> listener.ended(end));
    }

    @Override
    public void exchanged(HttpExchange exchange) {
        guarded(() -> listener.exchanged(exchange));
    }

    @Override
    public void found(Finding finding, String detail, long count) {
        guarded(() -> listener.found(finding, detail, count));
    }

    private void guarded(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error e) {
            onFailure.accept(e);
            throw e;
        }
    }
}
