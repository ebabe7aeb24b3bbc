package blackbox.node.serve;

import blackbox.console.EvidencePage;
import blackbox.evidence.EvidenceException;
import blackbox.evidence.bundle.BundleWriter;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.VerificationReport;
import blackbox.node.serve.stream.ValidStream;
import blackbox.node.verdict.VerdictList;
import blackbox.query.QueryException;
import blackbox.query.QueryException.Code;
import blackbox.query.answer.EventBytes;
import blackbox.query.answer.EventFilter;
import blackbox.query.answer.EventStream;
import blackbox.query.answer.RunJson;
import blackbox.query.answer.RunSummary;
import blackbox.query.answer.TouchedPart;
import blackbox.query.brief.TouchedInBrief;
import blackbox.query.run.CountedRun;
import blackbox.query.why.Caused;
import blackbox.query.why.CausedCollector;
import blackbox.query.why.CausedJson;
import blackbox.query.why.Why;
import blackbox.query.why.WhyCollector;
import blackbox.query.why.WhyCollector.Depth;
import blackbox.query.why.WhyJson;
import blackbox.schemas.RunId;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.PathVariable;
import io.micronaut.http.annotation.Produces;
import io.micronaut.http.annotation.QueryValue;
import io.micronaut.http.server.types.files.StreamedFile;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Answers about runs. A run is named as on the command line: id, unique prefix, name or `last`; [AccessFilter]
/// has found out which one that is.
@Controller("/api/v1/runs")
@ExecuteOn(TaskExecutors.BLOCKING)
final class RunsController {

    private static final MediaType ZIP = MediaType.of("application/zip");
    private static final MediaType NDJSON = MediaType.of("application/x-ndjson");

    private final ApiContext context;
    private final RequestLimiter scans = new RequestLimiter(8, "requests that read a whole run");
    private final RequestLimiter downloads = new RequestLimiter(4, "downloads of evidence");
    private final RequestLimiter streams = new RequestLimiter(64, "event streams");

    RunsController(ApiContext context) {
        this.context = context;
    }

    @Get
    @Produces(MediaType.APPLICATION_JSON)
    byte[] runs() {
        Recordings recordings = context.recordings();
        return ApiJson.document(out -> {
            out.writeStartArray();
            for (CountedRun run : CountedRun.all(recordings)) {
                RunJson.write(out, run);
            }
            out.writeEndArray();
        });
    }

    @Get("/{run}")
    @Produces(MediaType.APPLICATION_JSON)
    byte[] run(HttpRequest<?> request, @PathVariable String run) throws QueryException, IOException {
        RunId id = AccessFilter.run(request);
        try (RequestLimiter.Slot _ = scans.take()) {
            RunSummary summary = RunSummary.read(context.recordings(), id);
            return ApiJson.document(out -> {
                out.writeStartObject();
                summary.writeFields(out);
                out.writeEndObject();
            });
        }
    }

    @Get("/{run}/touched")
    @Produces(MediaType.APPLICATION_JSON)
    byte[] touched(HttpRequest<?> request, @PathVariable String run, @QueryValue("part") @Nullable List<String> part)
            throws QueryException, IOException {
        RunId id = AccessFilter.run(request);
        Set<TouchedPart> parts =
                part == null || part.isEmpty() ? EnumSet.allOf(TouchedPart.class) : TouchedPart.named(part);
        try (RequestLimiter.Slot _ = scans.take()) {
            TouchedInBrief touched = TouchedInBrief.collect(context.recordings(), id);
            return ApiJson.document(out -> touched.write(out, parts));
        }
    }

    @Get("/{run}/verification")
    @Produces(MediaType.APPLICATION_JSON)
    byte[] verification(HttpRequest<?> request, @PathVariable String run) throws QueryException, IOException {
        RunId id = AccessFilter.run(request);
        try (RequestLimiter.Slot _ = scans.take()) {
            Verification verification = context.verify(id);
            return ApiJson.document(out -> VerificationReport.write(out, verification));
        }
    }

    @Get("/{run}/verdicts")
    @Produces(MediaType.APPLICATION_JSON)
    byte[] verdicts(HttpRequest<?> request, @PathVariable String run) throws QueryException, IOException {
        RunId id = AccessFilter.run(request);
        try (RequestLimiter.Slot _ = scans.take()) {
            VerdictList.Found found = VerdictList.find(
                    context.recordings(), id, context.trustedKeys().read());
            return ApiJson.document(out -> VerdictList.writeWhole(out, found));
        }
    }

    /// The evidence as a ZIP: what the console verifies in the browser. 409 as long as not all of it is in the table,
    /// 413
    /// where a browser could not hold it.
    @Get("/{run}/evidence")
    HttpResponse<?> evidence(HttpRequest<?> request, @PathVariable String run) throws QueryException, IOException {
        RunId id = AccessFilter.run(request);
        Recordings recordings = context.recordings();
        if (recordings.isLive(id) || !recordings.spoolSegments(id).isEmpty()) {
            return Problem.response(
                    HttpStatus.CONFLICT, "not all of run " + id + " is in the table yet; ask again in a moment");
        }
        // Taken until the last octet is sent: until then it takes room on the disk.
        RequestLimiter.Slot slot = downloads.take();
        boolean sent = false;
        Path folder = Files.createTempDirectory("blackbox-evidence-"); // readable by its owner alone
        Path zip = folder.resolve("evidence.zip");
        try {
            long bytes = BundleWriter.writeUnstated(recordings, id, EvidencePage.BUNDLE_BYTES_MAX, zip);
            if (bytes > EvidencePage.BUNDLE_BYTES_MAX) {
                return Problem.response(
                        HttpStatus.REQUEST_ENTITY_TOO_LARGE,
                        "the evidence of run " + id + " has " + bytes
                                + " octets, too many for a browser; `blackbox verify " + id
                                + "` verifies it, and `export` writes it");
            }
            long length = Files.size(zip);
            InputStream octets = slot.over(Files.newInputStream(zip));
            sent = true;
            return HttpResponse.ok(new StreamedFile(octets, ZIP, 0, length))
                    .header(HttpHeaders.CACHE_CONTROL, "no-store");
        } catch (NoSuchFileException e) {
            return Problem.response(
                    HttpStatus.CONFLICT, "the table of run " + id + " is being put in order; ask again in a moment");
        } catch (EvidenceException e) {
            throw new QueryException(Code.NOT_FOUND, String.valueOf(e.getMessage()), e);
        } finally {
            if (!sent) {
                slot.close();
            }
            Files.deleteIfExists(zip); // what is open is read to its end nevertheless
            Files.delete(folder);
        }
    }

    @Get("/{run}/events")
    StreamedFile events(
            HttpRequest<?> request,
            @PathVariable String run,
            @QueryValue("kind") @Nullable List<String> kind,
            @QueryValue("from") @Nullable String from,
            @QueryValue("to") @Nullable String to,
            @QueryValue("index") @Nullable Long index,
            @QueryValue("limit") @Nullable Long limit,
            @QueryValue("follow") @Nullable Boolean follow)
            throws QueryException {
        RunId id = AccessFilter.run(request);
        EventFilter filter = EventFilter.of(kind == null ? List.of() : kind, from, to);
        long first = index == null ? 0 : index;
        long eventsMax = limit == null ? Long.MAX_VALUE : limit;
        if (first < 0 || eventsMax < 0) {
            throw new QueryException(Code.BAD_INPUT, "index and limit must not be negative");
        }
        EventStream stream = Boolean.TRUE.equals(follow)
                ? EventStream.following(context.recordings(), id, filter, first)
                : EventStream.of(context.recordings(), id, filter, first);
        var octets = new ValidStream(
                new EventBytes(stream, eventsMax),
                context.tokens(),
                AccessFilter.caller(request).token());
        return new StreamedFile(streams.hold(octets), NDJSON);
    }

    @Get("/{run}/events/{index}/why")
    @Produces(MediaType.APPLICATION_JSON)
    byte[] why(
            HttpRequest<?> request,
            @PathVariable String run,
            @PathVariable long index,
            @QueryValue("all") @Nullable Boolean all)
            throws QueryException, IOException {
        RunId id = AccessFilter.run(request);
        Depth depth = Boolean.TRUE.equals(all) ? Depth.ALL_CALLS : Depth.ONE_CALL;
        try (RequestLimiter.Slot _ = scans.take()) {
            Why why = WhyCollector.collect(context.recordings(), id, index, depth);
            return ApiJson.document(out -> WhyJson.write(out, why));
        }
    }

    @Get("/{run}/calls/{call}/caused")
    @Produces(MediaType.APPLICATION_JSON)
    byte[] caused(HttpRequest<?> request, @PathVariable String run, @PathVariable String call)
            throws QueryException, IOException {
        RunId id = AccessFilter.run(request);
        try (RequestLimiter.Slot _ = scans.take()) {
            Caused caused = CausedCollector.collect(context.recordings(), id, call);
            return ApiJson.document(out -> CausedJson.write(out, caused));
        }
    }
}
