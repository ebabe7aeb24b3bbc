package blackbox.gateway.egress;

import blackbox.gateway.egress.FlowWitness.Begun;
import blackbox.gateway.egress.FlowWitness.FirstSegment;
import java.time.Duration;
import java.util.Optional;
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
        this(authority, FlowWitness.NONE, loop, answerMax);
    }

    /// @param witness asked about each connection that it holds or whose program the authority asks for
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

    /// A verdict on a destination, as it was judged: with its program where the authority asked for that.
    public record OnConnection(Destination destination, Verdict verdict) {}

    /// As [EgressAuthority#connect], of a connection of TCP, which the guest must have told of, too, if it is
    /// held. It is waited for that once at most.
    public CompletionStage<OnConnection> connect(FirstSegment first, Destination destination) {
        if (asksProgram(destination)) {
            return begun(first).thenCompose(begun -> {
                Destination whole = destination.wantedBy(begun.map(Begun::exe).orElse(null));
                return connect(whole).thenApply(verdict -> new OnConnection(whole, confirmed(verdict, begun)));
            });
        }
        return connect(destination)
                .thenCompose(verdict -> verdict.allowed() && witness.holds()
                        ? begun(first).thenApply(begun -> confirmed(verdict, begun))
                        : CompletableFuture.completedFuture(verdict))
                .thenApply(verdict -> new OnConnection(destination, verdict));
    }

    private boolean asksProgram(Destination destination) {
        try {
            return authority.asksProgram(destination);
        } catch (RuntimeException _) {
            return false; // it will be asked about the connection next
        }
    }

    private CompletionStage<Optional<Begun>> begun(FirstSegment first) {
        return inTime(() -> witness.begun(first), _ -> Optional.empty());
    }

    private Verdict confirmed(Verdict verdict, Optional<Begun> begun) {
        return verdict.allowed() && witness.holds() && begun.isEmpty() ? unconfirmed() : verdict;
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
