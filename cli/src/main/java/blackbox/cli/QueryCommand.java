package blackbox.cli;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.output.JsonOut;
import blackbox.cli.output.LeftOutNotice;
import blackbox.evidence.store.Recordings;
import blackbox.query.QueryException;
import blackbox.query.sql.CsvResult;
import blackbox.query.sql.JsonResult;
import blackbox.query.sql.ParquetExport;
import blackbox.query.sql.ProofColumn;
import blackbox.query.sql.SqlEngine;
import blackbox.query.sql.SqlLimits;
import blackbox.query.sql.TableDescription;
import blackbox.query.sql.TextResult;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `blackbox query`.
@Command(
        name = "query",
        description = "Query all recordings that ingest has committed with one SQL SELECT: local, read-only.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox query --tables",
            "  blackbox query \"SELECT path, bytes_written FROM files WHERE path LIKE '/workspace/%%'\"",
            "  blackbox query \"SELECT * FROM egress\" --format csv",
            "  blackbox query \"SELECT run, index, path FROM events WHERE kind = 'file.unlink'\" --json --with-proofs"
        })
final class QueryCommand implements Callable<Integer> {

    /// How a result is printed.
    enum Format {
        table,
        json,
        csv,
        parquet
    }

    @Mixin
    private CommonOptions common;

    @Parameters(index = "0", arity = "0..1", paramLabel = "SELECT", description = "The query.")
    @Nullable
    private String sql;

    @Option(names = "--tables", description = "List the tables and their columns.")
    private boolean tables;

    @Option(names = "--format", paramLabel = "FORMAT", description = "table, json, csv or parquet (default: table).")
    private Format format = Format.table;

    @Option(
            names = "--with-proofs",
            description = "With --format json: add to each row with the columns run and index the proof of its event.")
    private boolean withProofs;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, QueryException {
        var recordings = common.recordings();
        Format wanted = common.json() ? Format.json : format;
        if (withProofs && wanted != Format.json) {
            throw CommandException.badInput("--with-proofs needs --format json: a proof is a JSON object");
        }
        if (tables) {
            describe(recordings, wanted == Format.json);
        } else if (sql == null) {
            throw CommandException.badInput("give a SELECT, or --tables to list the tables and columns");
        } else if (wanted == Format.parquet) {
            LeftOutNotice.print(
                    spec.commandLine().getErr(), ParquetExport.write(recordings, SqlLimits.DEFAULT, sql, System.out));
        } else {
            return select(recordings, sql, wanted);
        }
        return ExitCodes.OK;
    }

    private int select(Recordings recordings, String select, Format wanted) throws QueryException, IOException {
        PrintWriter out = spec.commandLine().getOut();
        var proofs = new ProofColumn(recordings);
        try (SqlEngine engine = SqlEngine.open(recordings, SqlLimits.DEFAULT)) {
            LeftOutNotice.print(spec.commandLine().getErr(), engine.leftOut());
            if (wanted == Format.json) {
                JsonGenerator json = JsonOut.lines(out);
                engine.select(select, withProofs ? new JsonResult(json, proofs::write) : new JsonResult(json));
                json.flush();
                out.println();
            } else {
                engine.select(select, wanted == Format.csv ? new CsvResult(out) : new TextResult(out));
            }
        }
        out.flush();
        return tell(proofs);
    }

    /// Says how many rows have no proof. If an event that exists does not lead to a signed root, the
    /// recording does not hold.
    private int tell(ProofColumn proofs) {
        PrintWriter err = spec.commandLine().getErr();
        if (proofs.without() > 0) {
            err.println("blackbox: " + proofs.without() + " of " + proofs.rows()
                    + " rows have no proof: select the columns run and index of an event to get one");
        }
        String unprovable = proofs.unprovable();
        if (unprovable != null) {
            err.println("blackbox: " + unprovable);
        }
        err.flush();
        return unprovable == null ? ExitCodes.OK : ExitCodes.DOES_NOT_HOLD;
    }

    private void describe(Recordings recordings, boolean json) throws QueryException, IOException {
        PrintWriter out = spec.commandLine().getOut();
        try (SqlEngine engine = SqlEngine.open(recordings, SqlLimits.DEFAULT)) {
            var described = engine.tables();
            if (json) {
                JsonOut.document(out, generator -> {
                    generator.writeStartArray();
                    for (TableDescription table : described) {
                        table.write(generator);
                    }
                    generator.writeEndArray();
                });
                return;
            }
            for (TableDescription table : described) {
                out.println(table.name() + ": " + table.description());
                table.columns().forEach(column -> out.println("  %-16s %s".formatted(column.name(), column.type())));
            }
        }
        out.flush();
    }
}
