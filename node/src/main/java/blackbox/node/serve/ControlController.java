package blackbox.node.serve;

import blackbox.node.control.ControlAnswer;
import blackbox.node.control.ControlClient;
import blackbox.node.control.ControlRequest;
import blackbox.node.control.ControlRequest.Command;
import blackbox.query.QueryException;
import blackbox.query.QueryException.Code;
import blackbox.recorder.RecorderException;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.databind.JsonNode;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.PathVariable;
import io.micronaut.http.annotation.Post;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.io.IOException;

/// Stops runs while they are recorded. The body is JSON: `{"reason": "why"}`, one line that is sealed.
@Controller("/api/v1/runs")
@ExecuteOn(TaskExecutors.BLOCKING)
final class ControlController {
    private final ApiContext context;
    private final RequestLimiter commands = new RequestLimiter(32, "commands to recorders");

    ControlController(ApiContext context) {
        this.context = context;
    }

    @Post(value = "/{run}/pause", consumes = MediaType.APPLICATION_JSON, produces = MediaType.APPLICATION_JSON)
    HttpResponse<byte[]> pause(HttpRequest<?> request, @PathVariable String run, @Body String body)
            throws QueryException {
        return control(request, Command.PAUSE, body);
    }

    @Post(value = "/{run}/resume", consumes = MediaType.APPLICATION_JSON, produces = MediaType.APPLICATION_JSON)
    HttpResponse<byte[]> resume(HttpRequest<?> request, @PathVariable String run, @Body String body)
            throws QueryException {
        return control(request, Command.RESUME, body);
    }

    @Post(value = "/{run}/kill", consumes = MediaType.APPLICATION_JSON, produces = MediaType.APPLICATION_JSON)
    HttpResponse<byte[]> kill(HttpRequest<?> request, @PathVariable String run, @Body String body)
            throws QueryException {
        return control(request, Command.KILL, body);
    }

    private HttpResponse<byte[]> control(HttpRequest<?> request, Command command, String body) throws QueryException {
        RunId run = AccessFilter.run(request);
        ControlRequest asked = asked(command, body, AccessFilter.caller(request).subject());
        try {
            context.access().more(AccessFilter.number(request), command.word(), run, asked.reason());
        } catch (RecorderException e) {
            return AccessFilter.notRecorded(e);
        }
        try (RequestLimiter.Slot _ = commands.take()) {
            ControlAnswer answer = ControlClient.ask(context.data(), run, asked);
            if (answer == null) {
                return Problem.response(
                        HttpStatus.CONFLICT,
                        "run " + run
                                + " is not being recorded by a process of this data folder, so there is nothing to "
                                + command.word());
            }
            return switch (answer.outcome()) {
                case DONE, ALREADY -> HttpResponse.ok(done(run, command, answer));
                case REFUSED -> Problem.response(HttpStatus.CONFLICT, "run " + run + ": " + answer.why());
                case FAILED -> Problem.response(HttpStatus.BAD_GATEWAY, "run " + run + ": " + answer.why());
            };
        } catch (IOException e) {
            return Problem.response(
                    HttpStatus.BAD_GATEWAY,
                    "the recorder of run " + run + " did not answer (" + e.getMessage() + "): it may have ended");
        }
    }

    private static ControlRequest asked(Command command, String body, String subject) throws QueryException {
        try {
            JsonNode reason = ApiJson.parse(body).path("reason");
            if (!reason.isTextual() || reason.textValue().isBlank()) {
                throw new QueryException(Code.BAD_INPUT, "the body must say why: {\"reason\": \"…\"}");
            }
            return new ControlRequest(command, reason.textValue().strip(), "api", subject);
        } catch (IllegalArgumentException e) {
            throw new QueryException(Code.BAD_INPUT, String.valueOf(e.getMessage()), e);
        }
    }

    private static byte[] done(RunId run, Command command, ControlAnswer answer) {
        return ApiJson.document(out -> answer.write(out, run, command));
    }
}
