package blackbox.node.serve;

import blackbox.evidence.store.Recordings;
import blackbox.query.QueryException;
import blackbox.query.QueryException.Code;
import blackbox.query.access.AccessEntries;
import blackbox.query.access.AccessEntry;
import blackbox.query.run.RunNames;
import blackbox.schemas.RunId;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Produces;
import io.micronaut.http.annotation.QueryValue;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Says who asked this service what, as its own sealed records have it.
@Controller("/api/v1/access")
@ExecuteOn(TaskExecutors.BLOCKING)
final class AccessController {

    private static final int NEWEST = 500;
    private static final int NEWEST_MAX = 10_000;
    /// Of texts that callers chose, in all entries of an answer.
    private static final long CHARS_MAX = 4 << 20;

    private final ApiContext context;
    private final RequestLimiter scans = new RequestLimiter(4, "requests that read the record of access");

    AccessController(ApiContext context) {
        this.context = context;
    }

    @Get
    @Produces(MediaType.APPLICATION_JSON)
    byte[] access(
            @QueryValue("run") @Nullable String run,
            @QueryValue("subject") @Nullable String subject,
            @QueryValue("limit") @Nullable Integer limit)
            throws QueryException, IOException {
        int most = limit == null ? NEWEST : limit;
        if (most < 1 || most > NEWEST_MAX) {
            throw new QueryException(Code.BAD_INPUT, "limit must be from 1 to " + NEWEST_MAX);
        }
        Recordings recordings = context.recordings();
        String about =
                run == null ? null : RunNames.resolveAlsoLost(recordings, run).value();
        try (RequestLimiter.Slot _ = scans.take()) {
            Deque<AccessEntry> newest = new ArrayDeque<>();
            var left = new long[1];
            var chars = new long[1];
            Map<RunId, @Nullable String> records = AccessEntries.read(recordings, entry -> {
                if ((about == null || about.equals(entry.run()))
                        && (subject == null || subject.equals(entry.subject()))) {
                    newest.addFirst(entry);
                    chars[0] += chars(entry);
                    while (newest.size() > most || chars[0] > CHARS_MAX && newest.size() > 1) {
                        chars[0] -= chars(newest.removeLast());
                        left[0]++;
                    }
                }
            });
            return ApiJson.document(out -> {
                out.writeStartObject();
                out.writeNumberField("older", left[0]);
                out.writeArrayFieldStart("entries");
                for (AccessEntry each : newest) {
                    each.write(out);
                }
                out.writeEndArray();
                out.writeArrayFieldStart("records");
                for (Map.Entry<RunId, @Nullable String> each : records.entrySet()) {
                    out.writeStartObject();
                    out.writeStringField("run", each.getKey().value());
                    out.writeStringField("fault", each.getValue());
                    out.writeEndObject();
                }
                out.writeEndArray();
                out.writeEndObject();
            });
        }
    }

    private static long chars(AccessEntry entry) {
        return length(entry.said()) + length(entry.target());
    }

    private static long length(@Nullable String text) {
        return text == null ? 0 : text.length();
    }
}
