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

    private final EgressAuthority authority;
    private final Executor loop;
    private final Duration answerMax;

    public Judge(EgressAuthority authority, Executor loop, Duration answerMax) {
        this.authority = authority;
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
    public Verdict address(Destination destination, String address) {
        try {
            return authority.address(destination, address);
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
