package blackbox.node.alert;

import blackbox.node.control.ControlAnswer;
import blackbox.node.control.ControlAnswer.Outcome;
import blackbox.node.control.ControlRequest;
import blackbox.node.control.ControlRequest.Command;
import blackbox.node.control.RunControl;
import blackbox.recorder.RecorderException;
import blackbox.recorder.guest.HostClock;
import blackbox.recorder.seal.RowWatch;
import blackbox.rules.Level;
import blackbox.rules.Rule;
import blackbox.schemas.Progress;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A run's alerts, from its rows to what they stop and to whom they are told. First they are durable, then anything
/// else comes of them.
public final class RunAlerts implements AutoCloseable {
    /// How long the run's end waits for a webhook.
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final AlertOptions options;
    private final RuleAlerts watch;
    private final Progress progress;
    private final @Nullable Outbox outbox;

    /// Bounded by how many alerts a rule can make; empty: there will be no more.
    private final BlockingQueue<Optional<Alert>> queue = new LinkedBlockingQueue<>();

    private final Map<Level, Integer> counts = new EnumMap<>(Level.class);
    private final Thread thread;
    private final CountDownLatch hasControl = new CountDownLatch(1);
    private volatile @Nullable RunControl control;
    private volatile boolean isEnding;

    private RunAlerts(RunId run, AlertOptions options, HostClock clock, @Nullable Outbox outbox, Progress progress) {
        this.options = options;
        this.progress = progress;
        this.outbox = outbox;
        this.watch = new RuleAlerts(run, options.rules(), clock, alert -> queue.add(Optional.of(alert)));
        this.thread = Thread.ofPlatform().daemon().name("alert-" + run).unstarted(this::handle);
    }

    /// Begins to take alerts.
    public static RunAlerts of(RunId run, AlertOptions options, DataFolder data, HostClock clock, Progress progress) {
        Outbox outbox = options.webhook() == null ? null : Outbox.open(data, progress);
        var alerts = new RunAlerts(run, options, clock, outbox, progress);
        alerts.thread.start();
        return alerts;
    }

    /// Is shown the run's rows.
    public RowWatch watch() {
        return options.rules().isEmpty() ? RowWatch.NONE : watch;
    }

    /// What the record says of the rules, if there are any, before the run begins.
    public Optional<Event> opening() {
        return options.rules().isEmpty() ? Optional.empty() : Optional.of(watch.opening(options.leftOut()));
    }

    /// From now on alerts can stop the run.
    public void commands(RunControl run) {
        control = run;
        hasControl.countDown();
    }

    private void handle() {
        boolean goesOn = true;
        while (goesOn) {
            try {
                Optional<Alert> next = queue.take();
                goesOn = next.isPresent();
                next.ifPresent(this::handle);
            } catch (InterruptedException _) {
                isEnding = true; // what is left is told, and stops nothing
            }
        }
    }

    private void handle(Alert alert) {
        Level level = alert.rule().about().level();
        counts.merge(level, 1, Integer::sum);
        tell(alert);
        Command command = isAtLeast(level, options.killOn())
                ? Command.KILL
                : isAtLeast(level, options.pauseOn()) ? Command.PAUSE : null;
        if (command == null || isEnding) {
            return;
        }
        String was = "the rule '" + alert.rule().about().title() + "' was to " + command.word() + " the run: ";
        try {
            ControlAnswer answer = stop(alert, command);
            if (answer.outcome() != Outcome.DONE && answer.outcome() != Outcome.ALREADY) {
                progress.say(was + answer.why());
            }
        } catch (InterruptedException _) {
            isEnding = true;
        } catch (RecorderException | RuntimeException e) {
            progress.say(was + e.getMessage());
        }
    }

    /// Waits until there is something to stop.
    private ControlAnswer stop(Alert alert, Command command) throws InterruptedException, RecorderException {
        hasControl.await();
        RunControl run = Objects.requireNonNull(control);
        run.awaitBegun();
        Rule.About about = alert.rule().about();
        return run.carryOut(
                new ControlRequest(command, about.title() + " (alert " + alert.index() + ")", "rule", about.id()),
                System.getProperty("user.name", "?"));
    }

    private static boolean isAtLeast(Level level, @Nullable Level least) {
        return least != null && level.compareTo(least) >= 0;
    }

    private void tell(Alert alert) {
        URI to = options.webhook();
        if (outbox == null || to == null) {
            return;
        }
        try {
            outbox.put(to, alert);
        } catch (IOException e) {
            progress.say("the alert " + alert.id() + " is sealed and will not be sent: " + e.getMessage());
        }
    }

    /// Ends: all alerts are sealed. Waits a moment for the webhook, and says what there was.
    @Override
    public void close() {
        queue.add(Optional.empty());
        int left = 0;
        try {
            if (!thread.join(PATIENCE)) {
                isEnding = true;
                thread.interrupt();
                thread.join(); // what is left is kept for the webhook, which waits for a disk alone
            }
            left = outbox == null ? 0 : outbox.finish(PATIENCE);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        if (left > 0) {
            progress.say(
                    left + " alerts wait until the webhook takes them: `blackbox serve` or the next `blackbox record`"
                            + " with --webhook sends them, or `blackbox rules send`");
        }
        if (!counts.isEmpty()) {
            String words = counts.entrySet().stream()
                    .map(level -> level.getValue() + " " + level.getKey().word())
                    .collect(Collectors.joining(", "));
            progress.say("alerts: " + words);
        }
    }
}
