package blackbox.node.serve;

import blackbox.node.replay.StartedReplay;
import blackbox.node.replay.StartedReplays.RefusedException;
import blackbox.query.QueryException;
import blackbox.query.QueryException.Code;
import blackbox.recorder.RecorderException;
import blackbox.replay.Moment;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.databind.JsonNode;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Delete;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.PathVariable;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.annotation.QueryValue;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Starts replays and landings, says how they are, asks landings and ends them.
@Controller("/api/v1/runs")
@ExecuteOn(TaskExecutors.BLOCKING)
final class ReplayController {
    private static final String WHOLE = "the whole run";

    private static final Duration WAIT = Duration.ofSeconds(30);

    private final ApiContext context;
    private final RequestLimiter waiting = new RequestLimiter(64, "requests that wait for a replay");

    ReplayController(ApiContext context) {
        this.context = context;
    }

    /// @param after a version that the caller has: it is answered as soon as there is another one, or after half
    ///     a minute
    @Get(value = "/{run}/replays", produces = MediaType.APPLICATION_JSON)
    byte[] all(HttpRequest<?> request, @PathVariable String run, @QueryValue @Nullable Long after)
            throws QueryException, InterruptedException {
        RunId of = AccessFilter.run(request);
        if (after != null) {
            try (RequestLimiter.Slot _ = waiting.take()) {
                context.replays().await(after, WAIT);
            }
        }
        long version = context.replays().version(); // before what it is of
        return ApiJson.document(out -> {
            out.writeStartObject();
            out.writeNumberField("version", version);
            out.writeArrayFieldStart("replays");
            for (StartedReplay each : context.replays().of(of)) {
                each.write(out, false);
            }
            out.writeEndArray();
            out.writeEndObject();
        });
    }

    @Get(value = "/{run}/replays/{replay}", produces = MediaType.APPLICATION_JSON)
    byte[] one(HttpRequest<?> request, @PathVariable String run, @PathVariable String replay) throws QueryException {
        return whole(find(request, replay));
    }

    /// The body is JSON: `{}` for a replay of the whole, `{"to": "812"}` for a landing.
    @Post(value = "/{run}/replays", consumes = MediaType.APPLICATION_JSON, produces = MediaType.APPLICATION_JSON)
    HttpResponse<byte[]> start(HttpRequest<?> request, @PathVariable String run, @Body String body)
            throws QueryException {
        RunId of = AccessFilter.run(request);
        JsonNode to = object(body).path("to");
        if (!to.isMissingNode() && !to.isNull() && !to.isTextual()) {
            throw new QueryException(Code.BAD_INPUT, "'to' is a text: an event's index, or a time");
        }
        String moment = to.isTextual() ? to.textValue().strip() : null;
        try {
            if (moment != null) {
                var _ = Moment.parse(moment);
            }
            String id = context.replays().newId();
            record(request, "replay", of, (moment == null ? WHOLE : "to " + moment) + " as " + id);
            StartedReplay started = context.replays()
                    .start(id, of, moment, AccessFilter.caller(request).subject());
            return HttpResponse.<byte[]>accepted().body(whole(started));
        } catch (RecorderException e) {
            return AccessFilter.notRecorded(e);
        } catch (RefusedException e) {
            if (e.isForNow()) {
                throw new BusyException(String.valueOf(e.getMessage()));
            }
            return Problem.response(HttpStatus.CONFLICT, String.valueOf(e.getMessage()));
        } catch (IllegalArgumentException e) {
            throw new QueryException(Code.BAD_INPUT, String.valueOf(e.getMessage()), e);
        }
    }

    /// The body is JSON: `{"line": "registers"}`. What it answers is there once its `pending` is null.
    @Post(
            value = "/{run}/replays/{replay}/ask",
            consumes = MediaType.APPLICATION_JSON,
            produces = MediaType.APPLICATION_JSON)
    HttpResponse<byte[]> ask(
            HttpRequest<?> request, @PathVariable String run, @PathVariable String replay, @Body String body)
            throws QueryException {
        StartedReplay landed = find(request, replay);
        JsonNode line = object(body).path("line");
        if (!line.isTextual()) {
            throw new QueryException(Code.BAD_INPUT, "the body must say what to ask: {\"line\": \"help\"}");
        }
        try {
            String command = StartedReplay.command(line.textValue());
            record(request, "ask", AccessFilter.run(request), command);
            if (!landed.ask(command)) {
                return Problem.response(
                        HttpStatus.CONFLICT, "it cannot be asked now: it has not landed, is over, or still answers");
            }
            return HttpResponse.<byte[]>accepted().body(whole(landed));
        } catch (RecorderException e) {
            return AccessFilter.notRecorded(e);
        } catch (IllegalArgumentException e) {
            throw new QueryException(Code.BAD_INPUT, String.valueOf(e.getMessage()), e);
        }
    }

    @Delete(value = "/{run}/replays/{replay}", produces = MediaType.APPLICATION_JSON)
    HttpResponse<byte[]> cancel(HttpRequest<?> request, @PathVariable String run, @PathVariable String replay)
            throws QueryException {
        StartedReplay found = find(request, replay);
        return found.cancel()
                ? HttpResponse.ok(whole(found))
                : Problem.response(HttpStatus.CONFLICT, "it is over already");
    }

    private void record(HttpRequest<?> request, String what, RunId run, String said) throws RecorderException {
        context.access().more(AccessFilter.number(request), what, run, said);
    }

    private StartedReplay find(HttpRequest<?> request, String id) throws QueryException {
        @Nullable StartedReplay found = context.replays().find(AccessFilter.run(request), id);
        if (found == null) {
            throw new QueryException(
                    Code.NOT_FOUND,
                    "there is no such replay of this run; they are known only to the process that started them");
        }
        return found;
    }

    private static JsonNode object(String body) throws QueryException {
        JsonNode said = ApiJson.parse(body);
        if (!said.isObject()) {
            throw new QueryException(Code.BAD_INPUT, "the body must be a JSON object");
        }
        return said;
    }

    private static byte[] whole(StartedReplay replay) {
        return ApiJson.document(out -> replay.write(out, true));
    }
}
