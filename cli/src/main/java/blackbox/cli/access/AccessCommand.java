package blackbox.cli.access;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.output.JsonOut;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.text.Printable;
import blackbox.evidence.text.Timestamps;
import blackbox.query.QueryException;
import blackbox.query.access.AccessEntries;
import blackbox.query.access.AccessEntry;
import blackbox.query.run.RunNames;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `blackbox access`.
@Command(
        name = "access",
        description = {
            "List who asked `serve` what, and what was answered, as its own sealed record has it.",
            "",
            "Each `serve` keeps one, a run like any other: `blackbox runs --access` lists them, `verify`, `prove` and"
                    + " `export` take their ids. Nothing is answered to a valid token that was not recorded before. What is read by"
                    + " commands on this host, or from the files, asks nobody and is not in it."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox access",
            "  blackbox access --run last --json",
            "  blackbox access --subject anna",
            "  blackbox query \"select host, count(*) from events where kind = 'access.answer' group by host\""
        })
public final class AccessCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Option(names = "--run", paramLabel = "RUN", description = "Only requests about this run.")
    @Nullable
    private String run;

    @Option(names = "--subject", paramLabel = "NAME", description = "Only requests of this subject.")
    @Nullable
    private String subject;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, QueryException {
        Recordings recordings = common.recordings();
        String about =
                run == null ? null : RunNames.resolveAlsoLost(recordings, run).value();
        PrintWriter out = spec.commandLine().getOut();
        JsonGenerator json = JsonOut.lines(out);
        Map<RunId, @Nullable String> records = AccessEntries.read(recordings, entry -> {
            if ((about == null || about.equals(entry.run())) && (subject == null || subject.equals(entry.subject()))) {
                if (common.json()) {
                    entry.write(json);
                } else {
                    out.println(line(entry));
                }
            }
        });
        json.flush();
        out.flush();
        PrintWriter err = spec.commandLine().getErr();
        if (records.isEmpty()) {
            err.println("blackbox: no `serve` has run here yet");
        }
        records.forEach((record, fault) -> {
            if (fault != null) {
                err.println("blackbox: record " + record + " cannot be read to its end: " + Printable.of(fault));
            }
        });
        return records.values().stream().allMatch(Objects::isNull) ? ExitCodes.OK : ExitCodes.FAILED;
    }

    private static String line(AccessEntry entry) {
        String who = entry.subject() == null ? "nobody" : Printable.of(entry.subject()) + " (" + entry.role() + ")";
        String answer = entry.status() == null
                ? "no answer"
                : entry.status()
                        + (entry.bytes() == null ? "" : " " + entry.bytes() + " octets")
                        + ("cut".equals(entry.ended()) ? ", cut" : "");
        return Timestamps.format(entry.atNs()).substring(0, 19) + "Z  " + who + "  " + Printable.of(entry.what())
                + (entry.count() == 1 ? "" : " (" + entry.count() + " times)")
                + (entry.run() == null ? "" : "  run " + Printable.of(entry.run()))
                + "  → " + answer
                + (entry.said() == null ? "" : "  " + Printable.of(cut(entry.said())));
    }

    private static String cut(String said) {
        return said.length() <= 120 ? said : said.substring(0, 120) + "…";
    }
}
