package blackbox.gateway.egress;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

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

    private CompletionStage<Verdict> inTime(Supplier<CompletionStage<Verdict>> question) {
        CompletableFuture<Verdict> asked;
        try {
            asked = question.get().toCompletableFuture();
        } catch (RuntimeException e) {
            return CompletableFuture.completedFuture(failed(e));
        }
        if (asked.isDone()) {
            return asked.exceptionally(Judge::failed);
        }
        var answer = new CompletableFuture<Verdict>();
        var unused = asked.copy()
                .orTimeout(answerMax.toMillis(), TimeUnit.MILLISECONDS)
                .exceptionally(Judge::failed)
                .thenAcceptAsync(answer::complete, loop);
        return answer;
    }

    private static Verdict failed(Throwable cause) {
        return Verdict.deny(
                null,
                cause instanceof TimeoutException
                        ? "the policy was not evaluated in time"
                        : "the policy could not be evaluated: " + cause);
    }
}
