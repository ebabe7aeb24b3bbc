package blackbox.node.mcp;

import blackbox.evidence.EvidenceException;
import blackbox.evidence.proof.EventProof;
import blackbox.evidence.proof.EventProver;
import blackbox.evidence.proof.ProofJson;
import blackbox.evidence.proof.UnprovableException;
import blackbox.evidence.store.LeftOut;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.verify.Requirement;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.VerificationReport;
import blackbox.node.mcp.Tool.Reply;
import blackbox.query.QueryException;
import blackbox.query.QueryException.Code;
import blackbox.query.answer.EventFilter;
import blackbox.query.answer.EventJson;
import blackbox.query.answer.EventStream;
import blackbox.query.answer.RunJson;
import blackbox.query.answer.RunSummary;
import blackbox.query.answer.Touched;
import blackbox.query.answer.TouchedCollector;
import blackbox.query.answer.TouchedJson;
import blackbox.query.answer.TouchedPart;
import blackbox.query.answer.Whose;
import blackbox.query.brief.BriefText;
import blackbox.query.brief.TouchedInBrief;
import blackbox.query.hunt.HuntLimits;
import blackbox.query.hunt.MatchJson;
import blackbox.query.hunt.RuleHunt;
import blackbox.query.run.CountedRun;
import blackbox.query.run.ImportCaution;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunNames;
import blackbox.query.sql.SqlEngine;
import blackbox.query.sql.SqlLimits;
import blackbox.query.sql.TableDescription;
import blackbox.query.why.Caused;
import blackbox.query.why.CausedCollector;
import blackbox.query.why.CausedJson;
import blackbox.query.why.Why;
import blackbox.query.why.WhyCollector;
import blackbox.query.why.WhyJson;
import blackbox.recorder.capture.PrintedStream;
import blackbox.rules.RuleException;
import blackbox.rules.RuleSet;
import blackbox.rules.shipped.ShippedRules;
import blackbox.schemas.RunId;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/// The tools: each answers from the recordings as they are now, and none changes anything.
final class RecordingTools {
    private static final int RUNS_MAX = 200;
    private static final int RUNS = 20;
    private static final int EVENTS_MAX = 1_000;
    private static final int EVENTS = 100;
    private static final int ROWS_MAX = 10_000;
    private static final int ROWS = 200;

    private static final Input RUN = Input.text("run", "An id, a unique prefix of one, a name, or 'last'.")
            .required();
    private static final Input INDEX = Input.number(
                    "index", "The event's index in the run, from 0.", 0, Arguments.INDEX_MAX)
            .required();

    private static final int PIECES_MAX = 1_000;
    private static final int PIECES = 200;
    private static final int MATCHES_MAX = 1_000;
    private static final int MATCHES = 100;

    private static final int TURN_WAIT_S = 5;
    private static final SqlLimits QUERY = new SqlLimits(128, 1, Duration.ofSeconds(30));

    private final Recordings recordings;
    private final McpEndpoint.Verifying verifying;
    private final Semaphore querying = new Semaphore(1, true);
    private final Semaphore reading = new Semaphore(2, true);

    RecordingTools(Recordings recordings, McpEndpoint.Verifying verifying) {
        this.recordings = recordings;
        this.verifying = verifying;
    }

    List<Tool> all() {
        return List.of(
                new Tool(
                        "list_runs",
                        "List runs",
                        "The recorded runs, the newest first: name, when, image, tier, how many events, and what is known to be"
                                + " lost. Start here.",
                        List.of(
                                Input.number("limit", "At most so many runs (default 20).", 1, RUNS_MAX),
                                Input.text(
                                        "before", "Only runs that began before this one: 'next' of the page before.")),
                        this::runs),
                new Tool(
                        "show",
                        "Show a run",
                        "One run's summary: command, image, tier, network, counts by kind, and losses.",
                        List.of(RUN),
                        this::show),
                new Tool(
                        "touched",
                        "What a run touched",
                        "What the agent read, changed, ran and called, and what of it may not have been seen (limits)."
                                + " Without 'parts', one screen with what matters most first; with parts, everything"
                                + " about them, of the agent and of everyone else in the VM.",
                        List.of(
                                RUN,
                                Input.choices(
                                        "parts",
                                        "Everything about these.",
                                        TouchedPart.values(),
                                        TouchedPart::partName)),
                        this::touched),
                new Tool(
                        "events",
                        "A run's events",
                        "A run's events in order, with their indexes, which 'why' and 'prove' take. 'next' is where the next"
                                + " page begins; null at the end. Losses are in 'show' and 'verify'.",
                        List.of(
                                RUN,
                                Input.texts("kinds", "Only these kinds (file.open) or families (file)."),
                                Input.text("actor", "Only what 'agent', 'supervisor' or 'host' did."),
                                Input.text("from", "Only events at or after this time (RFC 3339)."),
                                Input.text("to", "Only events before this time (RFC 3339)."),
                                Input.number(
                                        "index",
                                        "Begin at this index: 'next' of the page before.",
                                        0,
                                        Arguments.INDEX_MAX),
                                Input.number("limit", "At most so many events (default 100).", 1, EVENTS_MAX)),
                        this::events),
                new Tool(
                        "why",
                        "What an event follows from",
                        "From an event up through its process to the tool that a model asked for and the model's answer,"
                                + " with a grade from A (word for word, and nothing else fits) to X (tied to nothing).",
                        List.of(
                                RUN,
                                INDEX,
                                Input.flag(
                                        "all", "Go back through the tools' results to the first call of the model.")),
                        this::why),
                new Tool(
                        "caused",
                        "What a call caused",
                        "From a model's answer down to the processes, files and requests that its tools led to. The ids"
                                + " are in 'touched' with the part 'calls'.",
                        List.of(
                                RUN,
                                Input.text(
                                                "call",
                                                "The index of an event llm.call or llm.tool, or the id of a tool use.")
                                        .required()),
                        this::caused),
                new Tool(
                        "output",
                        "What the command printed",
                        "What the run's command printed, in the order in which it came, from what is sealed and was"
                                + " checked: text, or base64 where it is none. 'next' is where the next page begins; null"
                                + " at the end, where 'limits' say what was not kept.",
                        List.of(
                                RUN,
                                Input.choices(
                                        "streams",
                                        "Only these (default: both).",
                                        PrintedStream.values(),
                                        PrintedStream::word),
                                Input.number(
                                        "piece",
                                        "Begin at this piece: 'next' of the page before, of the same streams.",
                                        0,
                                        Arguments.INDEX_MAX),
                                Input.number("limit", "At most so many pieces (default 200).", 1, PIECES_MAX)),
                        this::output),
                new Tool(
                        "tables",
                        "Tables for SQL",
                        "The tables and columns for 'sql', with their types.",
                        List.of(),
                        this::tables),
                new Tool(
                        "sql",
                        "Query with SQL",
                        "One SELECT (DuckDB's dialect) over what ingest has committed; what is still being recorded may"
                                + " not be in it yet. Read-only, without access"
                                + " to files or network. See 'tables' first.",
                        List.of(
                                Input.text("select", "The query.").required(),
                                Input.number("limit", "At most so many rows (default 200).", 1, ROWS_MAX)),
                        this::sql),
                new Tool(
                        "hunt",
                        "Hunt with detection rules",
                        "The events of which a detection rule holds that Blackbox brings along (secrets read then sent,"
                                + " writes outside the workspace, the policy attacked …), over what ingest has"
                                + " committed. Nothing found does not say that nothing happened: 'verify' says what a"
                                + " run lacks.",
                        List.of(
                                Input.text("run", "Only this run: an id, a unique prefix of one, a name, or 'last'."),
                                Input.number("limit", "At most so many matches (default 100).", 1, MATCHES_MAX)),
                        this::hunt),
                new Tool(
                        "verify",
                        "Verify a run",
                        "Checks signatures, hash chain and completeness of a run, offline, with the public keys trusted"
                                + " here. Integrity TAMPERED or completeness other than COMPLETE is an answer, not an"
                                + " error.",
                        List.of(
                                RUN,
                                Input.choices(
                                        "require",
                                        "What must hold besides: nothing lost, time vouched for, trusted keys, could be"
                                                + " stopped all the time.",
                                        Requirement.values(),
                                        Requirement::requirementName)),
                        this::verify),
                new Tool(
                        "prove",
                        "Prove an event",
                        "A portable proof of one event, which anyone can check offline with 'blackbox verify FILE' and the"
                                + " public key.",
                        List.of(RUN, INDEX),
                        this::prove));
    }

    private Reply runs(Arguments given) throws QueryException, IOException {
        String before = given.optionalText("before");
        var page = new Answer.Page(given.number("limit", RUNS, 1, RUNS_MAX));
        List<RunFacts> all = RunFacts.ofAgents(recordings).reversed();
        List<RunFacts> wanted = before == null ? all : all.subList(place(all, before) + 1, all.size());
        int count = 0;
        while (count < wanted.size() && !page.isFull()) {
            CountedRun run = CountedRun.of(recordings, wanted.get(count));
            if (!page.add(out -> RunJson.write(out, run))) {
                break;
            }
            count++;
        }
        String next = count < wanted.size() ? wanted.get(count - 1).run().value() : null;
        return reply(out -> {
            page.writeField(out, "runs");
            out.writeNumberField("total", all.size());
            out.writeStringField("next", next);
        });
    }

    private static int place(List<RunFacts> all, String run) throws QueryException {
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).run().value().equals(run)) {
                return i;
            }
        }
        throw new QueryException(Code.NOT_FOUND, "there is no run " + run);
    }

    private Reply show(Arguments given) throws QueryException, IOException {
        RunId run = run(given);
        RunSummary summary = RunSummary.read(recordings, run);
        return reply(run, summary::writeFields);
    }

    private Reply touched(Arguments given) throws QueryException, IOException {
        Set<TouchedPart> parts = TouchedPart.named(given.texts("parts"));
        RunId run = run(given);
        if (!parts.isEmpty()) {
            Touched touched = TouchedCollector.collect(recordings, run, Whose.ALL);
            return reply(run, out -> TouchedJson.writeFields(out, touched, parts));
        }
        TouchedInBrief touched = TouchedInBrief.collect(recordings, run);
        return reply(run, out -> {
            WhyJson.texts(out, "brief", BriefText.lines(touched.brief()));
            WhyJson.texts(out, "limits", touched.touched().limits());
        });
    }

    private Reply events(Arguments given) throws QueryException, IOException {
        RunId run = run(given);
        EventFilter filter = EventFilter.of(given.texts("kinds"), given.optionalText("from"), given.optionalText("to"))
                .by(given.optionalText("actor"));
        var page = new Answer.Page(given.number("limit", EVENTS, 1, EVENTS_MAX));
        boolean live = recordings.isLive(run); // before the events: those of a run that ends meanwhile are not the last
        long next = given.number("index", 0, 0, Arguments.INDEX_MAX);
        boolean more = false;
        try (EventStream stream = EventStream.of(recordings, run, filter, next)) {
            while (!more && stream.next() == EventStream.Step.EVENT) {
                more = !page.add(out -> EventJson.write(out, stream.index(), stream.row()));
                next = more ? stream.index() : stream.index() + 1;
            }
        }
        boolean further = more || live;
        long from = next;
        List<LeftOut> leftOut = recordings.leftOut(run);
        return reply(run, out -> {
            page.writeField(out, "events");
            if (further) {
                out.writeNumberField("next", from);
            } else {
                out.writeNullField("next");
            }
            out.writeBooleanField("live", live);
            RunJson.leftOut(out, leftOut);
        });
    }

    private Reply why(Arguments given) throws QueryException, IOException {
        RunId run = run(given);
        Why why = WhyCollector.collect(
                recordings,
                run,
                given.index("index"),
                given.flag("all") ? WhyCollector.Depth.ALL_CALLS : WhyCollector.Depth.ONE_CALL);
        List<LeftOut> leftOut = recordings.leftOut(run);
        return reply(run, out -> {
            out.writeFieldName("why");
            WhyJson.write(out, why);
            RunJson.leftOut(out, leftOut);
        });
    }

    private Reply caused(Arguments given) throws QueryException, IOException {
        RunId run = run(given);
        Caused caused = CausedCollector.collect(recordings, run, given.text("call"));
        List<LeftOut> leftOut = recordings.leftOut(run);
        return reply(run, out -> {
            out.writeFieldName("caused");
            CausedJson.write(out, caused);
            RunJson.leftOut(out, leftOut);
        });
    }

    /// Two at a time: each reads, decrypts and checks all that was printed before its page.
    private Reply output(Arguments given) throws QueryException, IOException, InterruptedException {
        RunId run = run(given);
        var streams = EnumSet.noneOf(PrintedStream.class);
        for (String word : given.texts("streams")) {
            PrintedStream stream = PrintedStream.of(word);
            if (stream == null) {
                throw new QueryException(Code.BAD_INPUT, "'" + word + "' is not a stream; there are stdout and stderr");
            }
            streams.add(stream);
        }
        takeTurn(reading, "others read what was printed");
        try {
            OutputPage page = OutputPage.read(
                    recordings,
                    run,
                    streams.isEmpty() ? EnumSet.allOf(PrintedStream.class) : streams,
                    given.number("piece", 0, 0, Arguments.INDEX_MAX),
                    new Answer.Page(given.number("limit", PIECES, 1, PIECES_MAX)));
            return reply(run, page::writeFields);
        } finally {
            reading.release();
        }
    }

    private Reply tables(Arguments given) throws QueryException, IOException, InterruptedException {
        return query(engine -> {
            List<TableDescription> tables = engine.tables();
            return reply(out -> TableDescription.writeField(out, tables));
        });
    }

    private Reply sql(Arguments given) throws QueryException, IOException, InterruptedException {
        String select = given.text("select");
        long rowsMax = given.number("limit", ROWS, 1, ROWS_MAX);
        var page = new Answer.Page(rowsMax);
        return query(engine -> {
            boolean complete = page.fill(() -> engine.selectFirst(select, rowsMax + 1, new RowPage(page)));
            return reply(out -> {
                page.writeField(out, "rows");
                out.writeBooleanField("complete", complete);
                RunJson.leftOut(out, engine.leftOut());
            });
        });
    }

    private Reply hunt(Arguments given) throws QueryException, IOException, InterruptedException {
        RuleSet rules = shippedRules();
        List<RunId> runs = given.optionalText("run") == null ? List.of() : List.of(run(given));
        var page = new Answer.Page(given.number("limit", MATCHES, 1, MATCHES_MAX));
        // Before and after the engine looks at what there is: a run may begin meanwhile, or come into the table.
        var limits = new LinkedHashSet<>(HuntLimits.of(recordings, runs));
        return query(engine -> {
            limits.addAll(HuntLimits.of(recordings, runs));
            boolean complete = page.fill(() -> limits.addAll(HuntLimits.ofForgotten(RuleHunt.hunt(
                    engine, rules, runs, (run, match) -> page.take(out -> MatchJson.write(out, run, match))))));
            return reply(out -> {
                out.writeStringField("digest", rules.digest());
                out.writeNumberField("rules", rules.rules().size());
                page.writeField(out, "matches");
                out.writeBooleanField("complete", complete);
                WhyJson.texts(out, "limits", List.copyOf(limits));
                RunJson.leftOut(out, engine.leftOut());
            });
        });
    }

    private static RuleSet shippedRules() {
        try {
            return RuleSet.of(ShippedRules.all());
        } catch (RuleException e) {
            throw new IllegalStateException("rules that come along do not go together", e);
        }
    }

    /// Asks an engine.
    @FunctionalInterface
    private interface Question {
        Reply ask(SqlEngine engine) throws QueryException, IOException;
    }

    /// One at a time: a value becomes an object before anybody knows that it is too long for an answer.
    private Reply query(Question question) throws QueryException, IOException, InterruptedException {
        takeTurn(querying, "other queries are running");
        try (SqlEngine engine = SqlEngine.ofWholeResults(recordings, QUERY)) {
            return question.ask(engine);
        } finally {
            querying.release();
        }
    }

    private static void takeTurn(Semaphore turns, String why) throws QueryException, InterruptedException {
        if (!turns.tryAcquire(TURN_WAIT_S, TimeUnit.SECONDS)) {
            throw new QueryException(Code.ENGINE, why + "; ask again in a moment");
        }
    }

    private Reply verify(Arguments given) throws QueryException, IOException {
        List<Requirement> required;
        try {
            required = Requirement.named(given.texts("require"));
        } catch (IllegalArgumentException e) {
            throw new QueryException(Code.BAD_INPUT, String.valueOf(e.getMessage()), e);
        }
        RunId run = RunNames.resolveAlsoLost(recordings, given.text("run"));
        Verification verification = verifying.verify(run);
        List<Requirement> unmet = Requirement.unmet(required, verification);
        return reply(run, out -> {
            out.writeStringField("run", run.value());
            out.writeBooleanField("holds", verification.holds() && unmet.isEmpty());
            Requirement.writeUnmet(out, unmet);
            out.writeFieldName("verification");
            VerificationReport.write(out, verification);
        });
    }

    private Reply prove(Arguments given) throws QueryException, IOException {
        RunId run = run(given);
        long index = given.index("index");
        Path folder = Path.of(System.getProperty("java.io.tmpdir"));
        try (var cache = ScratchFolder.in(folder, "blackbox-proof-")) { // not in the recordings: this only reads
            EventProof proof = EventProver.open(recordings, run, cache.path()).prove(index);
            return reply(run, out -> {
                out.writeFieldName("proof");
                ProofJson.write(out, proof);
                WhyJson.texts(out, "limits", proof.limits());
            });
        } catch (EvidenceException e) {
            throw new QueryException(Code.NOT_FOUND, String.valueOf(e.getMessage()), e);
        } catch (UnprovableException e) {
            throw new QueryException(Code.STORE, "the record does not hold: " + e.getMessage(), e);
        } catch (VmException e) {
            throw new QueryException(Code.STORE, "a proof needs some room in " + folder, e);
        }
    }

    private RunId run(Arguments given) throws QueryException {
        return RunNames.resolve(recordings, given.text("run"));
    }

    private static Reply reply(Answer.Body fields) throws IOException {
        return new Reply(Answer.object(fields), null);
    }

    private Reply reply(RunId run, Answer.Body fields) throws QueryException, IOException {
        return new Reply(Answer.object(fields), ImportCaution.of(recordings, run));
    }
}
