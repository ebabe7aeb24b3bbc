package blackbox.node.serve;

import blackbox.node.access.AccessLog;
import blackbox.query.QueryException;
import blackbox.query.QueryException.Code;
import blackbox.query.answer.RunJson;
import blackbox.query.sql.JsonResult;
import blackbox.query.sql.ResultSink;
import blackbox.query.sql.SqlEngine;
import blackbox.query.sql.SqlLimits;
import blackbox.query.sql.TableDescription;
import blackbox.recorder.RecorderException;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Post;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Answers one SELECT over what ingest has committed. The body is JSON: `{"select": "…", "limit": 200}`.
@Controller("/api/v1/sql")
@ExecuteOn(TaskExecutors.IO) // not virtual threads, which native code holds
final class SqlController {

    private static final JsonMapper JSON = new JsonMapper();
    private static final SqlLimits LIMITS = new SqlLimits(128, 1, Duration.ofSeconds(30));
    private static final int ROWS = 200;
    private static final int ROWS_MAX = 5_000;
    private static final int OCTETS_MAX = 4 << 20;

    private final ApiContext context;
    private final RequestLimiter queries = new RequestLimiter(1, "queries");

    SqlController(ApiContext context) {
        this.context = context;
    }

    @Get(produces = MediaType.APPLICATION_JSON)
    byte[] tables() throws QueryException {
        try (RequestLimiter.Slot _ = queries.take();
                SqlEngine engine = SqlEngine.ofWholeResults(context.recordings(), LIMITS)) {
            List<TableDescription> tables = engine.tables();
            return ApiJson.document(out -> {
                out.writeStartObject();
                TableDescription.writeField(out, tables);
                out.writeEndObject();
            });
        }
    }

    @Post(consumes = MediaType.APPLICATION_JSON, produces = MediaType.APPLICATION_JSON)
    HttpResponse<byte[]> select(HttpRequest<?> request, @Body String body) throws QueryException, IOException {
        JsonNode asked = ApiJson.parse(body);
        String select = asked.path("select").textValue();
        int rowsMax = asked.path("limit").asInt(ROWS);
        if (select == null || select.isBlank() || rowsMax < 1 || rowsMax > ROWS_MAX) {
            throw new QueryException(
                    Code.BAD_INPUT,
                    "the body must be {\"select\": \"…\"}, with a \"limit\" from 1 to " + ROWS_MAX + " if it has one");
        }
        if (select.length() > AccessLog.SAID_CHARS_MAX) {
            return Problem.response(
                    HttpStatus.REQUEST_ENTITY_TOO_LARGE,
                    "a query has at most " + AccessLog.SAID_CHARS_MAX + " characters, so that all of it is recorded");
        }
        try {
            context.access().more(AccessFilter.number(request), "sql", null, select);
        } catch (RecorderException e) {
            return AccessFilter.notRecorded(e);
        }
        try (RequestLimiter.Slot _ = queries.take();
                SqlEngine engine = SqlEngine.ofWholeResults(context.recordings(), LIMITS)) {
            return HttpResponse.ok(answer(engine, select, rowsMax));
        }
    }

    private static byte[] answer(SqlEngine engine, String select, int rowsMax) throws QueryException, IOException {
        var octets = new Bounded();
        JsonGenerator out = JSON.createGenerator(octets);
        out.writeStartObject();
        var rows = new Rows(out, octets, rowsMax);
        try {
            engine.selectFirst(select, rowsMax + 1L, rows);
        } catch (EnoughException e) {
            // What there is more of is said below.
        } catch (TooLongException e) {
            throw new QueryException(
                    Code.BAD_INPUT, "a single row is longer than an answer may be: select less of it", e);
        }
        out.writeEndArray();
        out.writeBooleanField("complete", rows.complete);
        RunJson.leftOut(out, engine.leftOut());
        out.writeEndObject();
        out.close();
        return octets.toByteArray();
    }

    /// Ends a query whose further rows nobody takes.
    private static final class EnoughException extends IOException {
        private static final long serialVersionUID = 1;
    }

    /// A row is longer than an answer.
    private static final class TooLongException extends IOException {
        private static final long serialVersionUID = 1;
    }

    /// Refuses what is far more than an answer, also within a value: nobody knows how long one is before it is written.
    private static final class Bounded extends ByteArrayOutputStream {
        @Override
        public synchronized void write(byte[] octets, int offset, int length) {
            if (size() + length > 2 * OCTETS_MAX) {
                throw new UncheckedIOException(new TooLongException());
            }
            super.write(octets, offset, length);
        }
    }

    /// Writes columns and rows, until there are enough.
    private static final class Rows implements ResultSink {
        private final JsonGenerator out;
        private final Bounded octets;
        private final int rowsMax;
        private int count;
        private boolean complete;

        Rows(JsonGenerator out, Bounded octets, int rowsMax) {
            this.out = out;
            this.octets = octets;
            this.rowsMax = rowsMax;
        }

        @Override
        public void columns(List<String> names) throws IOException {
            out.writeArrayFieldStart("columns");
            for (String name : names) {
                out.writeString(name);
            }
            out.writeEndArray();
            out.writeArrayFieldStart("rows");
        }

        @Override
        public void row(List<@Nullable Object> values) throws IOException {
            if (count == rowsMax || octets.size() > OCTETS_MAX) {
                throw new EnoughException();
            }
            try {
                out.writeStartArray();
                for (Object value : values) {
                    JsonResult.value(out, value);
                }
                out.writeEndArray();
                out.flush();
            } catch (UncheckedIOException e) {
                throw e.getCause();
            }
            count++;
        }

        @Override
        public void end() {
            complete = true;
        }
    }
}
