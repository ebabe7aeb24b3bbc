package blackbox.node.replay;

import blackbox.evidence.text.Printable;
import blackbox.replay.landing.Landing;
import blackbox.replay.seek.FrameLookup;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// How the answers of a debug session are written.
///
/// @param out where to write them
/// @param form of the answers
public record DebugReport(PrintWriter out, Form form) {
    private static final ObjectMapper JSON = new ObjectMapper();

    /// The form of the answers.
    public enum Form {
        TEXT,
        /// Text, with a prompt, for a person.
        PROMPTED,
        /// A JSON document per line, one for each command.
        JSON
    }

    /// Where a replay is paused.
    ///
    /// @param agreement how far the re-execution in which it is agrees with the run; null in the run's own
    ///     recording
    /// @param event at which it stopped
    /// @param asked the index that was asked for: at an event that is not the guest's, or not compared, nothing
    ///     stops
    /// @param instruction the next one, counted from 0
    /// @param instructions how many there are
    /// @param executedFrom the instruction from which they were executed: 0, or that of a replay checkpoint
    /// @param beyond how many instructions this is after the event's position; negative if before it
    /// @param debugger the socket for gdb
    record Place(
            RunId run,
            Landing.@Nullable Agreement agreement,
            FrameLookup event,
            long asked,
            long instruction,
            long instructions,
            long executedFrom,
            long beyond,
            Path debugger) {}

    /// The first answer.
    void arrival(RunId run, String why, Place place, Path debugger, List<String> help) {
        if (form == Form.JSON) {
            place(place);
            return;
        }
        line("run", run.value());
        Landing.Agreement agreement = place.agreement();
        line(
                "tier",
                agreement == null
                        ? "exact: " + why
                        : "live: this is a re-execution that agrees with the recording in " + agreement.agreed()
                                + " of " + agreement.events() + " events, instruction by instruction");
        place(place);
        line("debugger", "gdb -ex 'target remote " + debugger + "'   (another terminal)");
        help.forEach(each -> line("", each));
        out.flush();
    }

    void place(Place place) {
        if (form == Form.JSON) {
            ObjectNode node = JSON.createObjectNode();
            Landing.Agreement agreement = place.agreement();
            node.put("run", place.run().value()).put("tier", agreement == null ? "exact" : "live");
            if (agreement != null) {
                node.putObject("reexecution")
                        .put("agreedEvents", agreement.agreed())
                        .put("events", agreement.events());
            }
            node.put("asked", place.asked())
                    .put("index", place.event().index())
                    .put("event", place.event().line().strip());
            if (place.event().there() != null) {
                node.put("there", place.event().there());
            }
            node.put("instruction", place.instruction()).put("instructions", place.instructions());
            node.put("beyondEvent", place.beyond()).put("executedFrom", place.executedFrom());
            node.put("gdb", place.debugger().toString()).put("egressPackets", 0);
            answer(node);
            return;
        }
        long index = place.event().index();
        if (place.asked() != index) {
            line(
                    "asked",
                    "event " + place.asked() + ", at which nothing can stop: this is the "
                            + (index < place.asked() ? "last one before it" : "first one after it") + " where it can");
        }
        line("landed", place.event().line().strip());
        if (place.event().there() != null) {
            line("there", place.event().there() + "   (as the re-execution has it)");
        }
        String exactly = place.beyond() == 0
                ? ", as the kernel reports this event"
                : ", " + Math.abs(place.beyond()) + (place.beyond() > 0 ? " after" : " before") + " this event's";
        line("instruction", place.instruction() + " of " + place.instructions() + exactly);
        line(
                "executed",
                "from "
                        + (place.executedFrom() == 0
                                ? "the recording's start"
                                : "instruction " + place.executedFrom() + ", where an earlier replay saved its state"));
        out.flush();
    }

    /// Reports a bad command.
    void fault(Exception e) {
        answer(JSON.createObjectNode().put("error", String.valueOf(e.getMessage())));
    }

    void prompt(long index) {
        if (form == Form.PROMPTED) {
            out.print(index + "> ");
            out.flush();
        }
    }

    /// A document; in text form, a line for each of its values.
    void answer(ObjectNode answer) {
        if (form == Form.JSON) {
            out.println(answer);
        } else {
            answer.properties().forEach(each -> text(each.getKey(), each.getValue()));
        }
        out.flush();
    }

    private void text(String name, JsonNode value) {
        switch (value.getNodeType()) {
            case OBJECT ->
                value.properties()
                        .forEach(each -> line(each.getKey(), each.getValue().asText()));
            case ARRAY -> value.forEach(each -> line(name, words(each)));
            default -> value.asText().lines().forEach(each -> line(name, each));
        }
    }

    private static String words(JsonNode value) {
        return value.isObject()
                ? value.properties().stream()
                        .map(each -> each.getValue().asText())
                        .collect(Collectors.joining("  "))
                : value.asText();
    }

    private void line(String name, String text) {
        out.println("%-13s %s".formatted(name, Printable.of(text)));
    }
}
