package blackbox.node.serve;

import blackbox.evidence.store.Recordings;
import blackbox.node.serve.stream.ValidStream;
import blackbox.node.serve.stream.WrittenStream;
import blackbox.query.QueryException;
import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.ReplayException;
import blackbox.replay.output.OutputJson;
import blackbox.replay.output.OutputLines;
import blackbox.replay.output.OutputReader;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.PathVariable;
import io.micronaut.http.annotation.QueryValue;
import io.micronaut.http.server.types.files.StreamedFile;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;

/// Gives what commands printed, as `blackbox output --json` does.
@Controller("/api/v1/runs")
@ExecuteOn(TaskExecutors.BLOCKING)
final class OutputController {

    private static final JsonFactory JSON = new JsonFactory();
    private static final MediaType NDJSON = MediaType.of("application/x-ndjson");

    private final ApiContext context;
    private final RequestLimiter streams = new RequestLimiter(16, "streams of output");

    OutputController(ApiContext context) {
        this.context = context;
    }

    @Get("/{run}/output")
    HttpResponse<?> output(
            HttpRequest<?> request, @PathVariable String run, @QueryValue("follow") @Nullable Boolean follow)
            throws QueryException, IOException {
        RunId id = AccessFilter.run(request);
        Recordings recordings = context.recordings();
        RequestLimiter.Slot slot = streams.take();
        boolean sent = false;
        try {
            var octets = WrittenStream.of(out -> write(recordings, id, Boolean.TRUE.equals(follow), out));
            sent = true;
            String token = AccessFilter.caller(request).token();
            return HttpResponse.ok(
                    new StreamedFile(slot.over(new ValidStream(octets, context.tokens(), token)), NDJSON));
        } finally {
            if (!sent) {
                slot.close();
            }
        }
    }

    private static void write(Recordings recordings, RunId run, boolean follow, OutputStream out)
            throws IOException, QueryException, InterruptedException {
        JsonGenerator json = JSON.createGenerator(out)
                .configure(JsonGenerator.Feature.AUTO_CLOSE_TARGET, false)
                .setPrettyPrinter(new MinimalPrettyPrinter("\n"));
        var reader = new OutputReader(recordings, run, EnumSet.allOf(PrintedStream.class));
        var lines = new OutputLines(json, out::flush);
        try {
            OutputReader.Answer answer = follow ? reader.follow(lines) : reader.read(null, lines);
            OutputJson.end(json, run, answer);
        } catch (ReplayException e) {
            throw e.asQueryException();
        }
        json.flush();
        out.write("\n".getBytes(StandardCharsets.US_ASCII));
    }
}
