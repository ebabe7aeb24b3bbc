package blackbox.node.alert;

import blackbox.node.control.ControlRequest.Command;
import blackbox.node.control.RunControl;
import blackbox.recorder.guest.HostClock;
import blackbox.recorder.seal.RowWatch;
import blackbox.rules.Level;
import blackbox.schemas.Progress;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A run's alerts, from its rows to what they stop and to whom they are told. First they are durable, then anything
/// else comes of them. Stopping waits for no telling, nor the end of a run for no pausing.
public final class RunAlerts implements AutoCloseable {
    /// How long the run's end waits for a webhook.
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final AlertOptions options;
    private final RuleAlerts watch;
    private final Progress progress;
    private final @Nullable Outbox outbox;
    private final AlertStop pause;
    private final AlertStop kill;

    /// Bounded by how many alerts a rule can make; empty: there will be no more.
    private final BlockingQueue<Optional<Alert>> queue = new LinkedBlockingQueue<>();

    private final Map<Level, Integer> counts = new EnumMap<>(Level.class);
    private final Thread teller;

    private RunAlerts(RunId run, AlertOptions options, HostClock clock, @Nullable Outbox outbox, Progress progress) {
        this.options = options;
        this.progress = progress;
        this.outbox = outbox;
        this.watch = new RuleAlerts(run, options.rules(), clock, this::take);
        this.pause = new AlertStop(Command.PAUSE, progress);
        this.kill = new AlertStop(Command.KILL, progress);
        this.teller = Thread.ofPlatform().daemon().name("alert-" + run).unstarted(this::tellAll);
    }

    /// Begins to take alerts.
    public static RunAlerts of(RunId run, AlertOptions options, DataFolder data, HostClock clock, Progress progress) {
        Outbox outbox = options.webhook() == null ? null : Outbox.open(data, progress);
        var alerts = new RunAlerts(run, options, clock, outbox, progress);
        alerts.teller.start();
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

    /// From now on alerts can stop the run, also those before.
    public void commands(RunControl run) {
        pause.begin(run);
        kill.begin(run);
    }

    /// Called by the run's writer, which waits for nothing here.
    private void take(Alert alert) {
        Level level = alert.rule().about().level();
        if (isAtLeast(level, options.killOn())) {
            kill.add(alert);
        } else if (isAtLeast(level, options.pauseOn())) {
            pause.add(alert);
        }
        queue.add(Optional.of(alert));
    }

    private static boolean isAtLeast(Level level, @Nullable Level least) {
        return least != null && level.compareTo(least) >= 0;
    }

    private void tellAll() {
        try {
            for (Optional<Alert> next = queue.take(); next.isPresent(); next = queue.take()) {
                Alert alert = next.get();
                counts.merge(alert.rule().about().level(), 1, Integer::sum);
                tell(alert);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts it", e);
        }
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

    /// Ends: all alerts are sealed. Waits until they are kept for the webhook, and a moment for it, and says what there
    /// was.
    @Override
    public void close() {
        pause.close();
        kill.close();
        queue.add(Optional.empty());
        int left = 0;
        try {
            teller.join();
            left = outbox == null ? 0 : outbox.finish(PATIENCE);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        if (left > 0) {
            progress.say(
                    left + " alerts wait until the webhook takes them: `blackbox serve`, the next `blackbox record`"
                            + " with --webhook or `blackbox rules send` sends them");
        }
        if (!teller.isAlive() && !counts.isEmpty()) {
            String words = counts.entrySet().stream()
                    .map(level -> level.getValue() + " " + level.getKey().word())
                    .collect(Collectors.joining(", "));
            progress.say("alerts: " + words);
        }
    }
}
