package blackbox.node.serve;

import blackbox.recorder.RecorderException;
import blackbox.recorder.witness.Witness;
import blackbox.recorder.witness.WitnessAnswer;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Consumes;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Post;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.nio.charset.StandardCharsets;

/// A witness for others' logs (C2SP tlog-witness), if `serve` was started as one. No token: a request is
/// authorized by the log's signature on it.
@Controller("/witness")
@ExecuteOn(TaskExecutors.BLOCKING)
final class WitnessController {

    private final ApiContext context;
    private final RequestLimiter requests = new RequestLimiter(32, "requests to the witness");

    WitnessController(ApiContext context) {
        this.context = context;
    }

    @Post("/add-checkpoint")
    @Consumes(MediaType.ALL)
    HttpResponse<?> addCheckpoint(@Body byte[] body) throws RecorderException {
        Witness witness = context.witness();
        if (witness == null) {
            return Problem.response(
                    HttpStatus.NOT_FOUND, "this service is not a witness; `serve --witness FILE` makes it one");
        }
        try (RequestLimiter.Slot _ = requests.take()) {
            WitnessAnswer answer = witness.addCheckpoint(body);
            return HttpResponse.status(HttpStatus.valueOf(answer.status()))
                    .contentType(MediaType.of(answer.contentType()))
                    .body(answer.body().getBytes(StandardCharsets.UTF_8));
        }
    }
}
