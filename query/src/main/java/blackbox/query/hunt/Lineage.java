package blackbox.query.hunt;

import blackbox.query.QueryException;
import blackbox.query.sql.OwnTable;
import blackbox.query.sql.ResultSink;
import blackbox.query.sql.SqlEngine;
import blackbox.rules.event.NameTable;
import blackbox.rules.event.ProcessTable;
import blackbox.rules.event.Program;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.ProcessId;
import blackbox.schemas.view.ProcessView;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// What processes ran and who had started them, as tables for SQL, by the same [ProcessTable] that watches a run:
/// `hunted_programs`, a row for each start of a process or program, `hunted_texts` with what these programs are, and
/// `hunted_names`, a row for each answer about a
/// name.
final class Lineage implements ResultSink {
    private static final List<Column> COLUMNS = List.of(
            Column.PID, Column.PPID, Column.START_NS, Column.PARENT_START_NS, Column.RET, Column.EXE, Column.ARGV);

    private final OwnTable programs;
    private final OwnTable texts;
    private final EventViews views = new EventViews();
    private final Row row = new Row();
    private ProcessTable processes = new ProcessTable();
    private final List<ProcessId> forgotten = new ArrayList<>();
    private String run = "";
    private long written;

    private Lineage(OwnTable programs, OwnTable texts) {
        this.programs = programs;
        this.texts = texts;
    }

    /// Makes the tables.
    ///
    /// @param runs a condition on `e.run`
    static void make(SqlEngine engine, String runs) throws QueryException, IOException {
        String kinds = Stream.of(Kind.PROCESS_FORK, Kind.PROCESS_EXEC, Kind.PROCESS_RUNNING)
                .map(kind -> "WHEN " + SqlEngine.quoted(kind.eventName()) + " THEN " + kind.code())
                .collect(Collectors.joining(" ", "CASE kind ", " END"));
        String columns = COLUMNS.stream()
                .map(column -> "\"" + column.columnName() + "\"")
                .collect(Collectors.joining(", "));
        try (OwnTable programs = engine.table(
                        "hunted_programs",
                        "run VARCHAR, pid INTEGER, start_ns BIGINT, from_index BIGINT, program BIGINT, parent BIGINT");
                OwnTable texts = engine.table(
                        "hunted_texts", "run VARCHAR, number BIGINT, image VARCHAR, command_line VARCHAR")) {
            engine.selectOwn(
                    "SELECT run, \"index\", " + kinds + " AS code, " + columns
                            + " FROM events e WHERE kind IN ('process.fork', 'process.exec', 'process.running') AND "
                            + runs + " ORDER BY run, \"index\"",
                    new Lineage(programs, texts));
        }
        try (OwnTable names =
                engine.table("hunted_names", "run VARCHAR, from_index BIGINT, address VARCHAR, host VARCHAR")) {
            engine.selectOwn(
                    "SELECT run, \"index\", host, answers, source FROM events e WHERE kind = 'dns.query'"
                            + " AND host IS NOT NULL AND answers IS NOT NULL AND " + runs
                            + " ORDER BY run, \"index\"",
                    new Names(names));
        }
    }

    @Override
    public void columns(List<String> names) {}

    @Override
    public void row(List<@Nullable Object> values) throws IOException {
        String of = (String) Objects.requireNonNull(values.getFirst());
        if (!of.equals(run)) {
            run = of;
            written = 0;
            processes = new ProcessTable(forgotten::add);
        }
        row.clear();
        row.set(Column.KIND, ((Number) Objects.requireNonNull(values.get(2))).longValue());
        for (int i = 0; i < COLUMNS.size(); i++) {
            switch (values.get(i + 3)) {
                case Number number -> row.set(COLUMNS.get(i), number.longValue());
                case String text -> row.set(COLUMNS.get(i), text);
                case List<?> list ->
                    row.set(
                            COLUMNS.get(i),
                            list.stream()
                                    .map(item -> Text.of(String.valueOf(item)))
                                    .toList());
                case null, default -> {}
            }
        }
        if (views.of(row) instanceof ProcessView event) {
            ProcessTable.Entry now = processes.see(event);
            for (ProcessId each : forgotten) {
                add(each, values.get(1), ProcessTable.Entry.UNKNOWN);
            }
            forgotten.clear();
            ProcessId id = event.process();
            if (now != null && id != null) {
                add(id, values.get(1), now);
            }
        }
    }

    private void add(ProcessId id, @Nullable Object index, ProcessTable.Entry now) throws IOException {
        Program program = now.program();
        if (program.number() > written) {
            written = program.number();
            texts.add(run, program.number(), program.image(), program.commandLine());
        }
        programs.add(
                run,
                (int) id.pid(),
                id.startNs(),
                index,
                now.program().number(),
                now.parent().number());
    }

    @Override
    public void end() {}

    /// Addresses and the names that led to them, as [NameTable] remembers them.
    private static final class Names implements ResultSink {
        private final OwnTable rows;
        private final EventViews views = new EventViews();
        private final Row row = new Row();
        private final List<String> forgotten = new ArrayList<>();
        private NameTable names = new NameTable();
        private String run = "";

        Names(OwnTable rows) {
            this.rows = rows;
        }

        @Override
        public void columns(List<String> ofResult) {}

        @Override
        public void row(List<@Nullable Object> values) throws IOException {
            String of = (String) Objects.requireNonNull(values.getFirst());
            if (!of.equals(run)) {
                run = of;
                names = new NameTable(forgotten::add);
            }
            List<?> answers = (List<?>) Objects.requireNonNull(values.get(3));
            boolean byHost = Source.HOST.sourceName().equals(values.get(4));
            row.clear().set(Column.KIND, Kind.DNS_QUERY.code());
            row.set(Column.SOURCE, (byHost ? Source.HOST : Source.GUEST).code());
            row.set(Column.HOST, String.valueOf(values.get(2)));
            row.set(
                    Column.ANSWERS,
                    answers.stream()
                            .map(answer -> Text.of(String.valueOf(answer)))
                            .toList());
            if (views.of(row) instanceof NetView.Dns query) {
                names.see(query);
            }
            // What was forgotten by an answer of the same event may have been one of them.
            var changed = new LinkedHashSet<>(forgotten);
            forgotten.clear();
            answers.forEach(answer -> changed.add(String.valueOf(answer)));
            for (String address : changed) {
                add(values.get(1), address);
            }
        }

        private void add(@Nullable Object index, String address) throws IOException {
            rows.add(run, index, address, names.of(address));
        }

        @Override
        public void end() {}
    }
}
