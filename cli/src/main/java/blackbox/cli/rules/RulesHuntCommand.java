package blackbox.cli.rules;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.ImportNotice;
import blackbox.cli.output.JsonOut;
import blackbox.cli.output.LeftOutNotice;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.text.Timestamps;
import blackbox.node.alert.RuleFiles;
import blackbox.query.QueryException;
import blackbox.query.hunt.HuntLimits;
import blackbox.query.hunt.MatchJson;
import blackbox.query.hunt.RuleHunt;
import blackbox.query.run.RunNames;
import blackbox.query.sql.SqlEngine;
import blackbox.query.sql.SqlLimits;
import blackbox.rules.RuleSet;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `blackbox rules hunt`.
@Command(
        name = "hunt",
        description = {
            "Find of which events in recorded runs rules hold: the same that would have been alerts while they were"
                    + " recorded, each match by itself.",
            "",
            "The answer comes from the table, like that of `blackbox query`. It does not say that nothing else happened:"
                    + " `blackbox verify` says what a run lacks."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox rules hunt                                  (all runs, by the rules that Blackbox brings along)",
            "  blackbox rules hunt last --rules sigma/rules/linux --json"
        })
final class RulesHuntCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Option(
            names = "--rules",
            paramLabel = "RULES",
            description = "agents, a file or a folder (default: agents). May be given more than once.")
    private List<String> places = new ArrayList<>();

    @Parameters(
            arity = "0..*",
            paramLabel = "RUN",
            description = "Runs: an id, a unique prefix of it, a name, or `last` (default: all).")
    private List<String> runs = new ArrayList<>();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, QueryException {
        RuleFiles read = RulePlaces.read(places);
        if (!read.wrong().isEmpty()) {
            RuleFiles.Refused first = read.wrong().getFirst();
            throw CommandException.badInput(first.file() + ": " + first.why()
                    + (read.wrong().size() > 1 ? " (and " + (read.wrong().size() - 1) + " more are wrong)" : "")
                    + "; `blackbox rules test` says all");
        }
        RuleSet rules = RulePlaces.set(read);
        if (rules.isEmpty()) {
            throw CommandException.badInput("there is no rule that can be used");
        }
        Recordings recordings = common.recordings();
        var within = new LinkedHashSet<RunId>();
        for (String each : runs) {
            within.add(ImportNotice.print(recordings, RunNames.resolve(recordings, each)));
        }
        List<String> limits = limits(recordings, within, read);
        PrintWriter out = spec.commandLine().getOut();
        try (SqlEngine engine = SqlEngine.open(recordings, SqlLimits.DEFAULT)) {
            LeftOutNotice.print(spec.commandLine().getErr(), engine.leftOut());
            if (common.json()) {
                JsonOut.document(out, json -> write(json, engine, rules, within, limits));
            } else {
                limits.addAll(HuntLimits.ofForgotten(print(out, engine, rules, within)));
                limits.forEach(limit -> System.err.println("blackbox: " + limit));
            }
        } catch (IOException e) {
            if (e.getCause() instanceof QueryException failed) {
                throw failed;
            }
            throw e;
        }
        out.flush();
        return ExitCodes.OK;
    }

    private static List<String> limits(Recordings recordings, Set<RunId> within, RuleFiles read) throws IOException {
        List<String> limits = HuntLimits.of(recordings, within);
        if (!read.leftOut().isEmpty()) {
            limits.add(read.leftOut().size()
                    + " rules were left out, for they ask for what is not recorded: `blackbox rules test` says which");
        }
        return limits;
    }

    /// @return how much was forgotten
    private static long print(PrintWriter out, SqlEngine engine, RuleSet rules, Set<RunId> within)
            throws QueryException, IOException {
        var count = new long[1];
        long forgotten = RuleHunt.hunt(engine, rules, within, (run, match) -> {
            count[0]++;
            out.println("%s %8d  %s  %-8s %s"
                    .formatted(
                            run,
                            match.index(),
                            Timestamps.format(match.atNs()),
                            match.rule().about().level().word(),
                            match.rule().about().title()));
        });
        out.println(
                count[0] == 0 ? "no rule holds of any event" : count[0] + " matches; blackbox events RUN shows them");
        return forgotten;
    }

    private static void write(
            JsonGenerator json, SqlEngine engine, RuleSet rules, Set<RunId> within, List<String> limits)
            throws IOException {
        json.writeStartObject();
        json.writeStringField("digest", rules.digest());
        json.writeNumberField("rules", rules.rules().size());
        json.writeArrayFieldStart("matches");
        try {
            long forgotten = RuleHunt.hunt(engine, rules, within, (run, match) -> MatchJson.write(json, run, match));
            limits.addAll(HuntLimits.ofForgotten(forgotten));
        } catch (QueryException e) {
            throw new IOException(e);
        }
        json.writeEndArray();
        json.writeArrayFieldStart("limits");
        for (String limit : limits) {
            json.writeString(limit);
        }
        json.writeEndArray();
        json.writeEndObject();
    }
}
