package blackbox.gateway;

import blackbox.gateway.egress.Decision;
import blackbox.gateway.egress.ExchangeTap;
import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.FlowEnd;
import blackbox.gateway.egress.GatewayListener;
import blackbox.gateway.egress.HttpExchange;
import blackbox.gateway.egress.HttpField;
import blackbox.gateway.egress.PlaintextTap;
import blackbox.gateway.egress.RequestHead;
import blackbox.gateway.egress.SecretUse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

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
    public ExchangeTap asked(Flow flow, RequestHead head, List<HttpField> fields) {
        return guarded(() -> new GuardedTap(listener.asked(flow, head, fields)));
    }

    @Override
    public void secret(SecretUse use) {
        guarded(() -> listener.secret(use));
    }

    @Override
    public PlaintextTap opened(Flow flow) {
        return guarded(() -> new GuardedPlaintextTap(listener.opened(flow)));
    }

    @Override
    public void found(Finding finding, String detail, long count) {
        guarded(() -> listener.found(finding, detail, count));
    }

    private void guarded(Runnable call) {
        var unused = guarded(() -> {
            call.run();
            return true;
        });
    }

    private <T> T guarded(Supplier<T> call) {
        try {
            return call.get();
        } catch (RuntimeException | Error e) {
            onFailure.accept(e);
            throw e;
        }
    }

    private final class GuardedTap implements ExchangeTap {
        private final ExchangeTap tap;

        GuardedTap(ExchangeTap tap) {
            this.tap = tap;
        }

        @Override
        public void sent(ByteBuffer body) {
            guarded(() -> tap.sent(body));
        }

        @Override
        public void answered(int status, List<HttpField> fields) {
            guarded(() -> tap.answered(status, fields));
        }

        @Override
        public void answered(ByteBuffer body) {
            guarded(() -> tap.answered(body));
        }

        @Override
        public void over(HttpExchange exchange) {
            guarded(() -> tap.over(exchange));
        }
    }

    private final class GuardedPlaintextTap implements PlaintextTap {
        private final PlaintextTap tap;

        GuardedPlaintextTap(PlaintextTap tap) {
            this.tap = tap;
        }

        @Override
        public void sent(ByteBuffer octets) {
            guarded(() -> tap.sent(octets));
        }

        @Override
        public void received(ByteBuffer octets) {
            guarded(() -> tap.received(octets));
        }

        @Override
        public void finished() {
            guarded(tap::finished);
        }

        @Override
        public void over(End how) {
            guarded(() -> tap.over(how));
        }
    }
}
