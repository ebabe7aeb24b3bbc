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
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/// Keeps what a gateway tells.
class TestListener implements GatewayListener {
    private final List<Decision> decisions = new ArrayList<>();
    private final List<FlowEnd> ends = new ArrayList<>();
    private final List<HttpExchange> exchanges = new ArrayList<>();
    private final List<SecretUse> uses = new ArrayList<>();
    private final List<StringBuilder> plaintexts = new ArrayList<>();
    private final Map<Finding, Long> findings = new EnumMap<>(Finding.class);

    @Override
    public synchronized void decided(Decision decision) {
        decisions.add(decision);
        notifyAll();
    }

    @Override
    public synchronized void ended(FlowEnd end) {
        ends.add(end);
        notifyAll();
    }

    @Override
    public ExchangeTap asked(Flow flow, RequestHead head, List<HttpField> fields) {
        return this::over;
    }

    @Override
    public PlaintextTap opened(Flow flow) {
        return new Plaintext();
    }

    /// What passed on one connection: `>` and what the guest sent, `<` and what it was sent, `|` where it ended.
    private final class Plaintext implements PlaintextTap {
        private final StringBuilder passed = new StringBuilder();

        Plaintext() {
            synchronized (TestListener.this) {
                plaintexts.add(passed);
            }
        }

        private void add(char side, ByteBuffer octets) {
            synchronized (TestListener.this) {
                if (passed.lastIndexOf(String.valueOf(side)) < passed.lastIndexOf(side == '>' ? "<" : ">")
                        || passed.isEmpty()) {
                    passed.append(side);
                }
                passed.append(StandardCharsets.US_ASCII.decode(octets));
                TestListener.this.notifyAll();
            }
        }

        @Override
        public void sent(ByteBuffer octets) {
            add('>', octets);
        }

        @Override
        public void received(ByteBuffer octets) {
            add('<', octets);
        }

        @Override
        public void finished() {
            synchronized (TestListener.this) {
                passed.append("|finished");
            }
        }

        @Override
        public void over(End how) {
            synchronized (TestListener.this) {
                passed.append('|').append(how);
                TestListener.this.notifyAll();
            }
        }
    }

    synchronized List<String> plaintexts() {
        return plaintexts.stream().map(StringBuilder::toString).toList();
    }

    private synchronized void over(HttpExchange exchange) {
        exchanges.add(exchange);
        notifyAll();
    }

    @Override
    public synchronized void secret(SecretUse use) {
        uses.add(use);
        notifyAll();
    }

    @Override
    public synchronized void found(Finding finding, String detail, long count) {
        findings.put(finding, count);
        notifyAll();
    }

    synchronized List<Decision> decisions() {
        return List.copyOf(decisions);
    }

    synchronized List<FlowEnd> ends() {
        return List.copyOf(ends);
    }

    synchronized List<HttpExchange> exchanges() {
        return List.copyOf(exchanges);
    }

    synchronized List<SecretUse> uses() {
        return List.copyOf(uses);
    }

    synchronized long count(Finding finding) {
        return findings.getOrDefault(finding, 0L);
    }

    synchronized void await(String what, Predicate<TestListener> condition) throws InterruptedException {
        long end = System.nanoTime() + TestGuest.LIMIT.toNanos();
        while (!condition.test(this)) {
            long left = (end - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                throw new AssertionError(what + ": " + decisions + ends + findings);
            }
            wait(left);
        }
    }
}
