package blackbox.gateway.egress;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Asks an authority and gets an answer in any case, on the loop: whatever goes wrong denies.
public final class Judge {
    private static final int FORBIDDEN = 403;

    /// The rule of a denial because the guest did not tell of a connection; the policy's own have no colon.
    public static final String UNCONFIRMED = "builtin:unconfirmed";

    private final EgressAuthority authority;
    private final FlowWitness witness;
    private final Executor loop;
    private final Duration answerMax;

    public Judge(EgressAuthority authority, Executor loop, Duration answerMax) {
        this(authority, FlowWitness.NOT_ASKED, loop, answerMax);
    }

    /// @param witness asked about each connection that the authority allows
    public Judge(EgressAuthority authority, FlowWitness witness, Executor loop, Duration answerMax) {
        this.authority = authority;
        this.witness = witness;
        this.loop = loop;
        this.answerMax = answerMax;
    }

    /// As [EgressAuthority#name]. The stage never fails, and completes on the loop.
    public CompletionStage<Verdict> name(String host, String type) {
        return inTime(() -> authority.name(host, type));
    }

    /// As [EgressAuthority#connect], likewise.
    public CompletionStage<Verdict> connect(Destination destination) {
        return inTime(() -> authority.connect(destination));
    }

    /// The same of a connection of TCP, which the guest must have told of, too.
    public CompletionStage<Verdict> connect(Flow flow, Destination destination) {
        return connect(destination)
                .thenCompose(verdict -> verdict.allowed() ? confirmed(flow, verdict) : done(verdict));
    }

    private CompletionStage<Verdict> confirmed(Flow flow, Verdict verdict) {
        return inTime(() -> witness.began(flow).thenApply(began -> began ? verdict : unconfirmed()));
    }

    private static CompletionStage<Verdict> done(Verdict verdict) {
        return CompletableFuture.completedFuture(verdict);
    }

    private static Verdict unconfirmed() {
        return Verdict.deny(
                UNCONFIRMED,
                "the policy holds connections until the guest's tracer tells of them, and it did not tell of this one"
                        + " in time");
    }

    /// As [EgressAuthority#tls], likewise.
    public CompletionStage<Verdict> tls(Destination destination, @Nullable String serverName) {
        return inTime(() -> authority.tls(destination, serverName));
    }

    /// As [EgressAuthority#request], likewise; what goes wrong is refused with 403.
    public CompletionStage<RequestVerdict> request(
            Destination destination, @Nullable String serverName, RequestHead head) {
        return inTime(
                () -> authority.request(destination, serverName, head),
                verdict -> new RequestVerdict(verdict, head.target(), FORBIDDEN));
    }

    /// As [EgressAuthority#address]. Never fails; any thread.
    public Verdict address(Destination destination, String address, @Nullable HostPort upstream) {
        try {
            return authority.address(destination, address, upstream);
        } catch (RuntimeException e) {
            return failed(e);
        }
    }

    /// As [EgressAuthority#stream].
    public Passage stream(@Nullable String rule) {
        return authority.stream(rule);
    }

    private CompletionStage<Verdict> inTime(Supplier<CompletionStage<Verdict>> question) {
        return inTime(question, verdict -> verdict);
    }

    /// @param denial makes an answer of the verdict on a failure
    private <T> CompletionStage<T> inTime(Supplier<CompletionStage<T>> question, Function<Verdict, T> denial) {
        CompletableFuture<T> asked;
        try {
            asked = question.get().toCompletableFuture();
        } catch (RuntimeException e) {
            return CompletableFuture.completedFuture(denial.apply(failed(e)));
        }
        BiFunction<@Nullable T, @Nullable Throwable, T> answer =
                (given, failure) -> given == null ? denial.apply(failed(failure)) : given;
        if (asked.isDone()) {
            return asked.handle(answer);
        }
        var answered = new CompletableFuture<T>();
        var unused = asked.copy()
                .orTimeout(answerMax.toMillis(), TimeUnit.MILLISECONDS)
                .handle(answer)
                .thenAcceptAsync(answered::complete, loop);
        return answered;
    }

    private static Verdict failed(@Nullable Throwable cause) {
        return Verdict.deny(
                null,
                cause instanceof TimeoutException
                        ? "the policy was not evaluated in time"
                        : "the policy could not be evaluated: " + cause);
    }
}
