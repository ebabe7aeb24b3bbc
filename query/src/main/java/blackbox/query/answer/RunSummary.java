package blackbox.query.answer;

import blackbox.evidence.parquet.MalformedParquetException;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.evidence.text.Printable;
import blackbox.evidence.text.Timestamps;
import blackbox.evidence.verify.ControlAccount;
import blackbox.evidence.verify.ControlFacts;
import blackbox.evidence.verify.EventAccount;
import blackbox.evidence.verify.Losses;
import blackbox.query.alerts.AlertSums;
import blackbox.query.calls.TokenSums;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunState;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// One run's facts, what is lost of it, how many events of each kind it has, which models it called, what rules found
/// in it, and how it could be stopped (null if the record does not say).
public record RunSummary(
        RunFacts facts,
        Losses losses,
        Map<Kind, Long> counts,
        List<TokenSums.OfModel> models,
        AlertSums.Alerts alerts,
        @Nullable ControlFacts control) {

    public RunSummary {
        models = List.copyOf(models);
    }

    /// How long a name is before what it names, in what [#printFacts] prints.
    public static final int NAME_CHARS = 14;

    private static final Set<Column> COLUMNS = columns();

    private static Set<Column> columns() {
        Set<Column> both = EnumSet.copyOf(EventAccount.COLUMNS);
        both.addAll(ControlAccount.COLUMNS);
        return Collections.unmodifiableSet(both);
    }

    /// Reads the whole run once.
    public static RunSummary read(Recordings recordings, RunId run) throws IOException {
        var counts = new EnumMap<Kind, Long>(Kind.class);
        RunFacts facts = RunFacts.read(recordings, run);
        var account = new EventAccount();
        var control = new ControlAccount();
        var tokens = new TokenSums();
        var alerts = new AlertSums();
        if (facts.fault() == null) {
            try (RunReader reader = RunReader.open(recordings, run, 0, COLUMNS)) {
                while (reader.next()) {
                    account.see(reader.index(), reader.row());
                    control.see(reader.index(), reader.row());
                    tokens.see(reader.row());
                    alerts.see(reader.index(), reader.row());
                    Kind kind = reader.row().has(Column.KIND)
                            ? Kind.ofCode(reader.row().number(Column.KIND))
                            : null;
                    if (kind != null) {
                        counts.merge(kind, 1L, Long::sum);
                    }
                }
            } catch (MalformedParquetException e) {
                facts = facts.withFault(String.valueOf(e.getMessage()));
            }
        }
        boolean live = facts.state() == RunState.OPEN && facts.fault() == null;
        return new RunSummary(
                facts,
                facts.state() == RunState.MISSING ? Losses.NOT_KNOWN : account.losses(live),
                counts,
                tokens.models(),
                alerts.alerts(),
                control.facts());
    }

    /// Writes the run's fields, `detail` (what it was started with) and `counts` into an object that the caller
    /// started.
    public void writeFields(JsonGenerator out) throws IOException {
        RunJson.fields(out, facts, losses);
        RunFacts.Start start = facts.start();
        if (start != null && start.detail().isObject()) {
            EventJson.copy(out, "detail", start.detail());
        }
        RunFacts.End end = facts.end();
        if (end != null && end.detail().path("clock").isObject()) {
            EventJson.copy(out, "clock", end.detail().path("clock"));
        }
        if (end != null && end.detail().path("unsealed").isObject()) {
            EventJson.copy(out, "unsealed", end.detail().path("unsealed"));
        }
        out.writeObjectFieldStart("counts");
        for (Map.Entry<Kind, Long> count : counts.entrySet()) {
            out.writeNumberField(count.getKey().eventName(), count.getValue());
        }
        out.writeEndObject();
        TokenSums.write(out, models);
        out.writeFieldName("alerts");
        alerts.write(out);
        if (control != null) {
            out.writeFieldName("control");
            control.write(out);
        }
    }

    /// Prints the facts and the counts.
    public void print(PrintWriter out) {
        printFacts(out);
        counts.forEach((kind, count) -> out.println("  %-20s %d".formatted(kind.eventName(), count)));
        alerts.print(out);
        if (control != null) {
            control.print(out);
        }
        models.forEach(each -> out.println("model         " + Printable.of(each.model()) + "  " + each.words()));
        printUnread(out);
    }

    /// Prints the facts alone, without counts, alerts and models: lines of a name, which is padded to [#NAME_CHARS]
    /// characters, and what it is.
    public void printFacts(PrintWriter out) {
        RunFacts.Start start = facts.start();
        RunFacts.End end = facts.end();
        out.println("run           " + facts.run()
                + (facts.name() == null ? "" : "  " + Printable.of(String.valueOf(facts.name()))));
        out.println("state         " + facts.state());
        RunFacts.Imported imported = facts.imported();
        if (imported != null) {
            out.println("imported      "
                    + (imported.trusted()
                            ? "a key that is trusted here vouches for it"
                            : "UNTRUSTED: no key that is trusted here vouches for it"));
        }
        if (start != null) {
            out.println("started       " + Timestamps.format(start.atNs()));
            start.detail()
                    .properties()
                    .forEach(field -> out.println("%-13s %s".formatted(field.getKey(), text(field.getValue()))));
            confinement(out, start.detail().path("start"));
        }
        if (end != null) {
            out.println("ended         " + Timestamps.format(end.atNs()));
            out.println("ended with    "
                    + (end.signal() != null ? "signal " + end.signal() : "exit code " + end.exitCode()));
            clock(out, end.detail().path("clock"));
            end.detail()
                    .path("unsealed")
                    .properties()
                    .forEach(each -> out.println("not sealed    " + Printable.of(each.getKey()) + ": "
                            + Printable.of(each.getValue().asText())));
        }
        out.println("events        " + facts.events() + "  (" + losses.inWords() + ")");
    }

    /// Prints what of the record could not be used.
    public void printUnread(PrintWriter out) {
        facts.leftOut().forEach(each -> out.println("left out      " + Printable.of(each.file() + ": " + each.why())));
        if (facts.fault() != null) {
            out.println("fault         " + Printable.of(String.valueOf(facts.fault())));
        }
    }

    /// What stood between QEMU and this host. Recordings from before there was anything do not say, and had
    /// nothing.
    private static void confinement(PrintWriter out, JsonNode machine) {
        String how = machine.path("confinement").asText("none");
        if (machine.isObject()) {
            out.println("confined      " + (how.equals("none") ? "NOT AT ALL" : "by " + Printable.of(how)));
        }
    }

    /// How far the guest's clock was off, if it had to be corrected.
    private static void clock(PrintWriter out, JsonNode clock) {
        if (clock.path("readings").asLong() > 0) {
            long largest = clock.path("offsetMaxNs").asLong();
            out.println("guest clock   at most " + seconds(Math.abs(largest)) + (largest < 0 ? " behind" : " ahead of")
                    + " the host's, 99 % of the readings within "
                    + seconds(clock.path("offsetP99Ns").asLong()) + " ("
                    + clock.path("readings").asLong() + " readings, as the guest reported it)");
        }
    }

    private static String seconds(long ns) {
        return String.format(Locale.ROOT, "%.3f s", ns / 1e9);
    }

    private static String text(JsonNode node) {
        return Printable.of(node.isTextual() ? node.textValue() : node.toString(), 200);
    }
}
