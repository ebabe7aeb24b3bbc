package blackbox.node.egress;

import blackbox.calls.read.CallReader;
import blackbox.calls.read.CallRecognizer;
import blackbox.gateway.egress.Passage;
import blackbox.gateway.egress.RequestHead;
import blackbox.gateway.egress.Ruling;
import blackbox.policy.Policy;
import blackbox.policy.budget.Limit;
import blackbox.policy.budget.Price;
import java.nio.ByteBuffer;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// One exchange, or one connection of something else, under a rule with a budget. Owned by the gateway's loop.
final class BudgetPassage implements Passage {
    private static final String IDENTITY = "identity";

    private final Account account;
    private final Policy policy;
    private final @Nullable RequestHead head;
    private final boolean reads;
    private @Nullable CallReader reader;
    private @Nullable Price price;
    private long octets;

    /// @param head of the request; null if it is no HTTP
    BudgetPassage(Account account, Policy policy, @Nullable RequestHead head) {
        this.account = account;
        this.policy = policy;
        this.head = head;
        this.reads = head != null
                && account.rule().readsCalls()
                && !CallSpending.counts(head.target())
                && (account.rule().limits(Limit.USD) || isCoded(head));
    }

    private static boolean isCoded(RequestHead head) {
        String coding = head.contentCoding();
        return coding != null && !coding.equalsIgnoreCase(IDENTITY);
    }

    /// What it may spend that is not added to the account yet.
    Map<Limit, Long> expected() {
        RequestHead asked = head;
        if (asked == null || !account.rule().readsCalls() || CallSpending.counts(asked.target())) {
            return Map.of();
        }
        long tokens = Math.max(octets, CallSpending.least(asked.method()));
        Price known = price;
        long micros = known != null
                ? dearest(known, tokens)
                : policy.prices().stream()
                        .mapToLong(each -> dearest(each, tokens))
                        .max()
                        .orElse(0);
        return Map.of(Limit.TOKENS, tokens, Limit.USD, micros);
    }

    private static long dearest(Price price, long tokens) {
        return Math.max(price.micros(new Price.Count(tokens, 0)), price.micros(new Price.Count(0, tokens)));
    }

    @Override
    public Hold holds() {
        return reads ? Hold.END : Hold.NOTHING;
    }

    @Override
    public @Nullable Ruling begins() {
        RequestHead asked = head;
        if (account.rule().readsCalls() && (asked == null || asked.webSocket())) {
            return account.uncounted("what passes " + (asked == null ? "without HTTP" : "over a WebSocket")
                    + " is not counted in tokens");
        }
        Ruling ruling = account.begin(this);
        if (asked != null && reads && (ruling == null || !ruling.stops())) {
            reader = CallRecognizer.of(
                    asked.method(),
                    asked.target(),
                    name -> name.equals("content-encoding") ? asked.contentCoding() : null);
        }
        return ruling;
    }

    @Override
    public @Nullable Ruling sends(long count) {
        octets += count;
        return account.pass(Limit.BYTES_OUT, count);
    }

    @Override
    public @Nullable Ruling receives(long count) {
        octets += count;
        return account.pass(Limit.BYTES_IN, count);
    }

    @Override
    public @Nullable Ruling body(ByteBuffer piece) {
        CallReader reading = reader;
        if (reading != null) {
            byte[] copy = new byte[piece.remaining()];
            piece.get(copy);
            reading.request(copy, 0, copy.length);
        }
        return null;
    }

    @Override
    public @Nullable Ruling whole() {
        CallReader reading = reader;
        String model = reading == null ? null : reading.requestModel();
        if (model == null) {
            return account.uncounted(
                    "this request could not be read as a call of one; ask other things under a rule of" + " their own");
        }
        price = policy.price(model);
        return price == null && account.rule().limits(Limit.USD)
                ? account.uncounted("the policy has no price of the model \"" + model + "\"; add it to prices")
                : null;
    }

    @Override
    public void over() {
        account.end(this);
        CallReader reading = reader;
        if (reading != null) {
            reading.close();
        }
    }
}
