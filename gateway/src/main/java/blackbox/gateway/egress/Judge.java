package blackbox.gateway.egress;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Asks an authority and gets an answer in any case, on the loop: whatever goes wrong denies.
public final class Judge {
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

    /// As [EgressAuthority#address]. Never fails; any thread.
    public Verdict address(Destination destination, String address) {
        try {
            return authority.address(destination, address);
        } catch (RuntimeException e) {
            return failed(e);
        }
    }

    private CompletionStage<Verdict> inTime(Supplier<CompletionStage<Verdict>> question) {
        CompletableFuture<Verdict> asked;
        try {
            asked = question.get().toCompletableFuture();
        } catch (RuntimeException e) {
            return CompletableFuture.completedFuture(failed(e));
        }
        if (asked.isDone()) {
            return asked.handle(Judge::answer);
        }
        var answer = new CompletableFuture<Verdict>();
        var unused = asked.copy()
                .orTimeout(answerMax.toMillis(), TimeUnit.MILLISECONDS)
                .handle(Judge::answer)
                .thenAcceptAsync(answer::complete, loop);
        return answer;
    }

    private static Verdict answer(@Nullable Verdict verdict, @Nullable Throwable failure) {
        return verdict == null ? failed(failure) : verdict;
    }

    private static Verdict failed(@Nullable Throwable cause) {
        return Verdict.deny(
                null,
                cause instanceof TimeoutException
                        ? "the policy was not evaluated in time"
                        : "the policy could not be evaluated: " + cause);
    }
}
