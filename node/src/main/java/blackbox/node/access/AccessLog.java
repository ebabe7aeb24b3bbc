package blackbox.node.access;

import blackbox.evidence.verify.LeafDetail;
import blackbox.node.record.ServiceRun;
import blackbox.recorder.RecorderException;
import blackbox.recorder.RecorderException.Code;
import blackbox.recorder.publish.KafkaPublisher;
import blackbox.schemas.Hash;
import blackbox.schemas.Progress;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.Kind;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The record of who asked the service what, and of the answers: a run of its own (`schemas/events.md`). A
/// request is sealed and durable before it is answered. Safe to use from several threads.
public final class AccessLog implements AutoCloseable {
    /// How long a request's target may be, so that the record has all of it.
    public static final int TARGET_CHARS_MAX = 2_000;

    /// How long what a request's body says may be, likewise.
    public static final int SAID_CHARS_MAX = 12_000;

    /// The route by which people log in.
    public static final String LOGIN = "POST /login";

    /// How many requests without a valid token are recorded one by one in each [#WINDOW], of logins and of all others.
    static final int REFUSED_MAX = 20;

    private static final Duration WINDOW = Duration.ofMinutes(1);

    /// How long to wait with another try when the record could not be written; twice as long after each failure.
    private static final Duration AGAIN = Duration.ofSeconds(10);

    private static final Duration AGAIN_MAX = Duration.ofMinutes(10);

    /// How many requests may be underway.
    private static final int OPEN_MAX = 10_000;

    private static final int GRANTS_IN_PART = 10;
    private static final JsonMapper JSON = new JsonMapper();

    private final DataFolder data;
    private final ApiTokens tokens;
    private final Progress progress;
    private final Map<Long, Asked> open = new ConcurrentHashMap<>();
    /// Answers that are over and not recorded yet: whoever sends them waits for nothing.
    private final BlockingQueue<Answer> answers = new LinkedBlockingQueue<>();

    private final Thread writer;
    private ServiceRun run;
    private @Nullable KafkaPublisher publisher;
    private @Nullable List<Grant> sealed;
    private long number;
    private long againNs;
    private volatile Duration pause = AGAIN;
    private long windowNs = System.nanoTime();
    /// How many were refused in this window: logins, and all others.
    private final Map<Boolean, Integer> refused = new HashMap<>();
    private long onlyCounted;
    private boolean closed;

    /// A request.
    ///
    /// @param caller who asks
    /// @param remote from where; null if that is not known
    /// @param route method and route, such as `GET /api/v1/runs/{run}`
    /// @param run that it is about, if that is one
    /// @param target as it was sent, of at most [#TARGET_CHARS_MAX] characters
    public record Request(
            Caller caller,
            @Nullable Endpoint remote,
            String route,
            @Nullable RunId run,
            String target) {}

    private record Asked(
            ServiceRun run,
            @Nullable Text subject,
            @Nullable Endpoint remote,
            long beganNs) {}

    private record Answer(long number, Asked asked, int status, long bytes, boolean complete, long tookNs) {}

    private AccessLog(DataFolder data, ApiTokens tokens, ServiceRun run, Progress progress) {
        this.data = data;
        this.tokens = tokens;
        this.run = run;
        this.progress = progress;
        this.writer = Thread.ofPlatform().daemon().name("access").unstarted(this::work);
    }

    /// Begins a record.
    ///
    /// @throws RecorderException when it cannot begin: then nothing may be answered
    public static AccessLog open(DataFolder data, ApiTokens tokens, Progress progress)
            throws RecorderException, InterruptedException {
        var log = new AccessLog(data, tokens, ServiceRun.open(data, LeafDetail.ACCESS, progress), progress);
        log.tellGrants(log.run);
        log.writer.start();
        return log;
    }

    /// The run that is being recorded.
    public synchronized RunId run() {
        return run.run();
    }

    /// Records a request. It may be answered when this has returned.
    ///
    /// @return its number
    /// @throws RecorderException when it is not durable: it must not be answered then
    public long begin(Request request) throws RecorderException {
        ServiceRun now;
        long mine;
        synchronized (this) {
            now = current();
            if (open.size() >= OPEN_MAX) {
                throw new RecorderException(Code.CLOSED, "too many requests are underway");
            }
            tellRefused();
            tellGrants(now);
            mine = ++number;
            Text subject = Text.of(request.caller().subject());
            now.accept(new Event.Access(
                    Kind.ACCESS_REQUEST,
                    now.now(),
                    request.route(),
                    subject,
                    request.remote(),
                    null,
                    detail(mine, request).toString()));
            open.put(mine, new Asked(now, subject, request.remote(), System.nanoTime()));
        }
        try {
            now.flush();
        } catch (RecorderException e) {
            open.remove(mine);
            throw e;
        }
        pause = AGAIN;
        return mine;
    }

    private ObjectNode detail(long number, Request request) {
        ObjectNode detail = JSON.createObjectNode()
                .put("number", number)
                .put("role", request.caller().role().word())
                .put("token", request.caller().token());
        RunId about = request.run();
        if (about != null) {
            detail.put("run", about.value());
        }
        return detail.put("target", tokens.redact(request.target()));
    }

    /// Records more of a request that was begun: what its body asks for; durable when this has returned.
    ///
    /// @param what in a word
    /// @param about the run that it is about; null if that is none
    /// @param said at most [#SAID_CHARS_MAX] characters
    /// @throws RecorderException when it is not durable: the request must not be answered then
    public void more(long number, String what, @Nullable RunId about, String said) throws RecorderException {
        ObjectNode detail = JSON.createObjectNode().put("number", number);
        if (about != null) {
            detail.put("run", about.value());
        }
        detail.put("said", tokens.redact(said));
        ServiceRun to;
        synchronized (this) {
            Asked asked = open.get(number);
            if (closed || asked == null) {
                throw new RecorderException(Code.CLOSED, "request " + number + " is over");
            }
            to = asked.run();
            to.accept(new Event.Access(
                    Kind.ACCESS_REQUEST, to.now(), what, asked.subject(), asked.remote(), null, detail.toString()));
        }
        to.flush();
    }

    /// Has it recorded that a request was answered; waits for nothing.
    ///
    /// @param status the answer's; 0 if there was none
    /// @param bytes how many octets of the answer's body went out
    /// @param complete whether that was all of it
    public void end(long number, int status, long bytes, boolean complete) {
        Asked asked = open.remove(number);
        if (asked != null) {
            answers.add(new Answer(number, asked, status, bytes, complete, System.nanoTime() - asked.beganNs()));
        }
    }

    private void work() {
        try {
            while (true) {
                Answer next = answers.poll(WINDOW.toMillis(), TimeUnit.MILLISECONDS);
                synchronized (this) {
                    if (closed) {
                        return;
                    }
                    if (next != null) {
                        tell(next);
                    }
                    tellRefused();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void tell(Answer answer) {
        ObjectNode detail = JSON.createObjectNode()
                .put("number", answer.number())
                .put("status", answer.status())
                .put("tookNs", answer.tookNs());
        Asked asked = answer.asked();
        tell(
                asked.run(),
                new Event.Access(
                        Kind.ACCESS_ANSWER,
                        asked.run().now(),
                        answer.complete() ? "complete" : "cut",
                        asked.subject(),
                        asked.remote(),
                        answer.bytes(),
                        detail.toString()));
    }

    private void tell(ServiceRun to, Event event) {
        try {
            to.accept(event);
        } catch (RecorderException e) {
            progress.say("the record of access lacks something: " + e.getMessage());
        }
    }

    /// Records a request that was refused because it had no valid token; of many, only how many there were.
    ///
    /// @param status the answer's
    public synchronized void refuse(@Nullable Endpoint remote, String route, int status) {
        tellRefused();
        if (closed) {
            return;
        }
        // Whoever floods logins must not hide who tries tokens.
        int soFar = refused.merge(route.equals(LOGIN), 1, Integer::sum);
        if (soFar > REFUSED_MAX) {
            onlyCounted++;
            return;
        }
        String detail = JSON.createObjectNode().put("refused", status).toString();
        tell(run, new Event.Access(Kind.ACCESS_REQUEST, run.now(), route, null, remote, null, detail));
    }

    private void tellRefused() {
        if (System.nanoTime() - windowNs >= WINDOW.toNanos()) {
            tellCounted();
            windowNs = System.nanoTime();
            refused.clear();
        }
    }

    private void tellCounted() {
        if (onlyCounted > 0) {
            String detail = JSON.createObjectNode().put("count", onlyCounted).toString();
            onlyCounted = 0;
            tell(run, new Event.Access(Kind.ACCESS_REQUEST, run.now(), "refused", null, null, null, detail));
        }
    }

    private synchronized void tellGrants(ServiceRun now) throws RecorderException {
        List<Grant> grants = tokens.grants();
        if (grants.equals(sealed)) {
            return;
        }
        ArrayNode listed = JSON.createArrayNode();
        grants.forEach(each -> listed.add(each.toJson()));
        String digest =
                Hash.sha256(listed.toString().getBytes(StandardCharsets.UTF_8)).toString();
        int from = 0;
        for (int part = 0; from < listed.size() || part == 0; part++) {
            ObjectNode detail = JSON.createObjectNode().put("part", part);
            ArrayNode some = detail.putArray("tokens");
            for (int end = Math.min(listed.size(), from + GRANTS_IN_PART); from < end; from++) {
                some.add(listed.get(from));
            }
            now.accept(new Event.Access(Kind.ACCESS_GRANTS, now.now(), digest, null, null, null, detail.toString()));
        }
        sealed = grants;
    }

    /// The run, or another one if it cannot be continued.
    private ServiceRun current() throws RecorderException {
        RecorderException failure = run.failure();
        if (closed) {
            throw new RecorderException(Code.CLOSED, "the service is about to end");
        }
        if (failure == null) {
            return run;
        }
        if (againNs != 0 && System.nanoTime() < againNs) {
            throw new RecorderException(failure.code(), "the record of access cannot be written", failure);
        }
        againNs = System.nanoTime() + pause.toNanos();
        pause = pause.multipliedBy(2).compareTo(AGAIN_MAX) > 0 ? AGAIN_MAX : pause.multipliedBy(2);
        try {
            end(run);
            run = ServiceRun.open(data, LeafDetail.ACCESS, progress);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RecorderException(Code.CLOSED, "interrupted", e);
        }
        sealed = null;
        if (publisher != null) {
            run.publish(publisher);
        }
        return run;
    }

    private void end(ServiceRun ending) {
        try {
            ending.close();
        } catch (RecorderException e) {
            progress.say("run " + ending.run() + ", a record of access, has no proper end: " + e.getMessage());
        }
    }

    /// Carries the record to the broker from now on.
    public synchronized void publish(KafkaPublisher to) {
        publisher = to;
        run.publish(to);
    }

    /// Ends what [#publish] began, before the broker ends. The rest is published by whoever ingests next: what
    /// ingest makes of a run's end takes longer than a process has that was told to stop.
    public synchronized void stopPublishing() {
        publisher = null;
        run.stopPublishing();
    }

    /// Ends the record. What is asked afterwards is refused.
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        for (Answer left = answers.poll(); left != null; left = answers.poll()) {
            tell(left);
        }
        tellCounted();
        closed = true;
        end(run);
        writer.interrupt();
    }
}
