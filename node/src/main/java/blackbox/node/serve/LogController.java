package blackbox.node.serve;

import blackbox.evidence.log.TilePath;
import blackbox.evidence.store.TransparencyLogReader;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.PathVariable;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/// The log of runs, as C2SP tlog-tiles clients read it; prefix `/log`. No token: those who monitor the log
/// need no right to read recordings, and the log holds keys, checkpoints and signed statements, nothing that
/// an agent did.
@Controller("/log")
@ExecuteOn(TaskExecutors.BLOCKING)
final class LogController {

    private static final MediaType TEXT = MediaType.of("text/plain; charset=utf-8");

    private final TransparencyLogReader log;

    LogController(ApiContext context) {
        this.log = new TransparencyLogReader(context.recordings().log());
    }

    /// The last checkpoint, with its cosignatures.
    @Get("/checkpoint")
    HttpResponse<byte[]> checkpoint() throws IOException {
        TransparencyLogReader.Head head = log.head();
        return head == null
                ? Problem.response(HttpStatus.NOT_FOUND, "there is no log of runs yet; the first recording begins it")
                : HttpResponse.ok(head.note().encoded().getBytes(StandardCharsets.UTF_8))
                        .contentType(TEXT)
                        .header(HttpHeaders.CACHE_CONTROL, "no-store");
    }

    /// A tile or an entry bundle.
    @Get("/tile/{+path}")
    HttpResponse<byte[]> tile(@PathVariable String path) throws IOException {
        TilePath tile = TilePath.parse("tile/" + path);
        if (tile == null) {
            return Problem.response(HttpStatus.NOT_FOUND, "this is not the path of a tile; see C2SP tlog-tiles");
        }
        byte[] octets = log.read(tile);
        return octets == null
                ? Problem.response(HttpStatus.NOT_FOUND, "the log has no " + tile)
                : HttpResponse.ok(octets)
                        .contentType(MediaType.APPLICATION_OCTET_STREAM_TYPE)
                        .header(HttpHeaders.CACHE_CONTROL, tile.isPartial() ? "no-store" : "immutable, max-age=604800");
    }
}
