package blackbox.node.alert;

import blackbox.node.control.ControlAnswer;
import blackbox.node.control.ControlAnswer.Outcome;
import blackbox.node.control.ControlRequest;
import blackbox.node.control.ControlRequest.Command;
import blackbox.node.control.RunControl;
import blackbox.recorder.RecorderException;
import blackbox.rules.Rule;
import blackbox.schemas.Progress;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/// Pauses or ends a run at an alert, on a thread of its own.
final class AlertStop implements AutoCloseable {
    private final Command command;
    private final Progress progress;
    private final BlockingQueue<Alert> alerts = new LinkedBlockingQueue<>();
    private final Thread thread;
    private volatile @Nullable RunControl control;

    AlertStop(Command command, Progress progress) {
        this.command = command;
        this.progress = progress;
        this.thread =
                Thread.ofPlatform().daemon().name("alert-" + command.word()).unstarted(this::stopAll);
    }

    /// From now on there is a run to stop.
    void begin(RunControl run) {
        control = run;
        thread.start();
    }

    void add(Alert alert) {
        alerts.add(alert);
    }

    private void stopAll() {
        try {
            while (true) {
                stop(alerts.take());
            }
        } catch (InterruptedException _) {
            // the run ends
        }
    }

    private void stop(Alert alert) throws InterruptedException {
        Rule.About about = alert.rule().about();
        RunControl run = Objects.requireNonNull(control);
        try {
            if (command == Command.PAUSE) {
                run.awaitBegun();
            }
            ControlAnswer answer = run.carryOut(
                    new ControlRequest(command, about.title() + " (alert " + alert.index() + ")", "rule", about.id()),
                    System.getProperty("user.name", "?"));
            if (answer.outcome() == Outcome.DONE) {
                progress.say("the rule '" + about.title() + "' held (alert " + alert.index() + "): "
                        + (command == Command.PAUSE
                                ? "the run stands still until `blackbox resume " + alert.run() + "`"
                                : "the run was ended"));
            } else if (answer.outcome() != Outcome.ALREADY) {
                say(about, answer.why());
            }
        } catch (RecorderException | RuntimeException e) {
            say(about, e.getMessage());
        }
    }

    private void say(Rule.About about, @Nullable String why) {
        progress.say("the rule '" + about.title() + "' was to " + command.word() + " the run: " + why);
    }

    /// What is left stops nothing any more.
    @Override
    public void close() {
        thread.interrupt();
    }
}
