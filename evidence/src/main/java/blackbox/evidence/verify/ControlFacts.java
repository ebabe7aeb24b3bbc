package blackbox.evidence.verify;

import blackbox.evidence.text.Printable;
import blackbox.evidence.text.Timestamps;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// What a run's record says of how it could be stopped from its host, and of who did so.
///
/// @param probes how often the way of such commands was tried
/// @param failed how many of the probes did not come through, or found the machine otherwise than it was to be
/// @param longestGapNs the longest time without one that came through, or a command: from the first probe to
///     the end of the agent, or as far as the record goes
/// @param beforeAgent whether one had come through before the agent started
/// @param commands the first ones, in order
/// @param furtherCommands how many there are besides
/// @param guestEventsWhilePaused how many events of the guest stand in the record where it was to stand still
public record ControlFacts(
        long probes,
        long failed,
        long longestGapNs,
        boolean beforeAgent,
        List<Command> commands,
        long furtherCommands,
        long guestEventsWhilePaused) {

    /// Three probes may be late before anybody says that nobody could have stopped the run.
    private static final Duration GAP_MAX = Duration.ofSeconds(30);

    public ControlFacts {
        commands = List.copyOf(commands);
    }

    /// A command, and what came of it.
    ///
    /// @param user of the host who gave it; null if the record does not say
    /// @param via how it was given
    /// @param subject for whom, as whoever gave it says; or null
    public record Command(
            long index,
            long atNs,
            String what,
            @Nullable String outcome,
            @Nullable String user,
            @Nullable String via,
            @Nullable String subject,
            @Nullable String reason) {

        /// What was done, when, by whom and why.
        private String inWords() {
            String by = user + (subject == null ? "" : " for " + subject) + " (" + via + ")";
            return Timestamps.format(atNs) + "  " + what + " " + outcome + ", by " + by + ": " + reason;
        }
    }

    /// Whether the run could be stopped all the time, as far as the probes tell, and stood still where it was
    /// paused.
    public boolean armed() {
        return beforeAgent && failed == 0 && longestGapNs <= GAP_MAX.toNanos() && guestEventsWhilePaused == 0;
    }

    /// Writes one object.
    public void write(JsonGenerator out) throws IOException {
        out.writeStartObject();
        out.writeBooleanField("armed", armed());
        out.writeNumberField("probes", probes);
        out.writeNumberField("failedProbes", failed);
        out.writeNumberField("longestGapNs", longestGapNs);
        out.writeNumberField("guestEventsWhilePaused", guestEventsWhilePaused);
        out.writeArrayFieldStart("commands");
        for (Command each : commands) {
            out.writeStartObject();
            out.writeNumberField("index", each.index());
            out.writeStringField("at", Timestamps.format(each.atNs()));
            out.writeStringField("command", each.what());
            out.writeStringField("outcome", each.outcome());
            out.writeStringField("user", each.user());
            out.writeStringField("via", each.via());
            out.writeStringField("subject", each.subject());
            out.writeStringField("reason", each.reason());
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeNumberField("furtherCommands", furtherCommands);
        out.writeEndObject();
    }

    /// Prints a line, and one for each command.
    public void print(PrintWriter out) {
        String gap = String.format(Locale.ROOT, "at most %.1f s apart", longestGapNs / 1e9);
        out.println("control       "
                + (armed()
                        ? "armed: " + probes + " probes came through, " + gap
                        : "NOT SHOWN TO BE ARMED: " + (probes - failed) + " of " + probes + " probes came through, "
                                + gap + (beforeAgent ? "" : ", none before the agent started")));
        commands.forEach(each -> out.println("              " + Printable.of(each.inWords())));
        if (furtherCommands > 0) {
            out.println("              and " + furtherCommands + " more commands");
        }
        if (guestEventsWhilePaused > 0) {
            out.println(
                    "              BUT " + guestEventsWhilePaused + " events of the guest where it was to stand still");
        }
    }
}
