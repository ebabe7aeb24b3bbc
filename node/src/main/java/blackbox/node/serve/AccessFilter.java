package blackbox.node.serve;

import blackbox.node.access.AccessLog;
import blackbox.node.access.Caller;
import blackbox.query.QueryException;
import blackbox.query.QueryException.Code;
import blackbox.query.run.RunNames;
import blackbox.recorder.RecorderException;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.net.IpAddress;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpMethod;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MutableHttpResponse;
import io.micronaut.http.annotation.RequestFilter;
import io.micronaut.http.annotation.ResponseFilter;
import io.micronaut.http.annotation.ServerFilter;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Lets only those through to the API who may ask what they ask, and has it recorded first. Which run is meant
/// is decided here, once: controllers take it from [#run].
@ServerFilter({"/api/**", "/metrics/**"})
final class AccessFilter {
    /// The request's attribute with what is known of it.
    private static final String ASKED = "blackbox.asked";

    /// How much of a target is recorded that is too long.
    private static final int SHOWN_CHARS = 500;

    private static final Set<String> TOKEN_PARAMETERS = Set.of("token", "access_token", "api_key", "authorization");

    private final ApiContext context;
    private final ServiceMetrics metrics;

    /// A request that was recorded.
    ///
    /// @param route in the words of [ApiRoute#words]
    /// @param beganNs when it came, by [System#nanoTime]
    /// @param run that it is about; null if it is about none
    /// @param noRun why there is none of the name that was given, or null
    private record Asked(
            long number,
            String route,
            long beganNs,
            Caller caller,
            @Nullable RunId run,
            @Nullable QueryException noRun) {}

    AccessFilter(ApiContext context, ServiceMetrics metrics) {
        this.context = context;
        this.metrics = metrics;
    }

    private static Asked asked(HttpRequest<?> request) {
        return request.getAttribute(ASKED, Asked.class).orElseThrow();
    }

    /// @throws java.util.NoSuchElementException for a request that did not pass here
    static void requireRecorded(HttpRequest<?> request) {
        var _ = asked(request);
    }

    /// Who sent a request.
    static Caller caller(HttpRequest<?> request) {
        return asked(request).caller();
    }

    /// The number that a request has in the record.
    static long number(HttpRequest<?> request) {
        return asked(request).number();
    }

    /// The run that a request is about, as it is recorded.
    ///
    /// @throws QueryException if there is none of the name that was given
    static RunId run(HttpRequest<?> request) throws QueryException {
        Asked asked = asked(request);
        if (asked.noRun() != null) {
            throw asked.noRun();
        }
        if (asked.run() == null) {
            throw new IllegalStateException("its route names no run");
        }
        return asked.run();
    }

    @RequestFilter
    @ExecuteOn(TaskExecutors.BLOCKING)
    @Nullable
    HttpResponse<?> check(HttpRequest<?> request) {
        long beganNs = System.nanoTime();
        ApiRoute route = ApiRoute.of(request.getMethod(), request.getPath());
        String words = route == null
                ? (request.getMethod() == HttpMethod.CUSTOM ? "other" : request.getMethodName()) + " (no such route)"
                : route.words();
        for (String name : request.getParameters().names()) {
            if (TOKEN_PARAMETERS.contains(name.toLowerCase(Locale.ROOT))) {
                return refused(
                        request,
                        beganNs,
                        words,
                        HttpStatus.BAD_REQUEST,
                        "a token must not stand in a URL, which proxies and histories keep: revoke it, and send another"
                                + " one as `Authorization: Bearer …`");
            }
        }
        Caller caller = context.tokens().recognise(request.getHeaders().get(HttpHeaders.AUTHORIZATION));
        if (caller == null) {
            return refused(
                            request,
                            beganNs,
                            words,
                            HttpStatus.UNAUTHORIZED,
                            "send a valid token as `Authorization: Bearer …`")
                    .header(HttpHeaders.WWW_AUTHENTICATE, "Bearer realm=\"blackbox\"");
        }
        String target = request.getUri().toString();
        boolean tooLong = target.length() > AccessLog.TARGET_CHARS_MAX;
        if (tooLong) {
            target = target.substring(0, SHOWN_CHARS) + "… (" + target.length() + " characters, SHA-256 "
                    + Hash.sha256(target.getBytes(StandardCharsets.UTF_8)) + ")";
        }
        RunId run = null;
        QueryException noRun = null;
        try {
            String said = route == null ? null : route.run(request.getPath());
            run = said == null ? null : RunNames.resolve(context.recordings(), said);
        } catch (URISyntaxException e) {
            noRun = new QueryException(Code.NOT_FOUND, "there is no such run: its name cannot be decoded", e);
        } catch (QueryException e) {
            noRun = e;
        }
        try {
            long number = context.access().begin(new AccessLog.Request(caller, remote(request), words, run, target));
            metrics.recorded(true);
            request.setAttribute(ASKED, new Asked(number, words, beganNs, caller, run, noRun));
            AnswerMeter.expect(context.access(), request.getHeaders().get(AnswerMeter.CONNECTION), number);
        } catch (RecorderException e) {
            metrics.recorded(false);
            HttpResponse<byte[]> unanswered = notRecorded(e);
            metrics.answered(words, unanswered.code(), System.nanoTime() - beganNs);
            return unanswered;
        }
        MutableHttpResponse<byte[]> refusal = tooLong
                ? Problem.response(
                        HttpStatus.REQUEST_URI_TOO_LONG,
                        "a target has at most " + AccessLog.TARGET_CHARS_MAX
                                + " characters, so that all of it is recorded")
                : refusal(request, route, caller, run);
        if (refusal != null) {
            mark(asked(request), refusal); // what a filter answers passes no other filter
        }
        return refusal;
    }

    /// The answer to a request that could not be recorded.
    static HttpResponse<byte[]> notRecorded(RecorderException why) {
        return Problem.response(
                HttpStatus.SERVICE_UNAVAILABLE,
                "the request could not be recorded, so it is not answered: " + why.getMessage());
    }

    private MutableHttpResponse<byte[]> refused(
            HttpRequest<?> request, long beganNs, String words, HttpStatus status, String why) {
        context.access().refuse(remote(request), words, status.getCode());
        metrics.answered(words, status.getCode(), System.nanoTime() - beganNs);
        return Problem.response(status, why);
    }

    /// Why a request that is recorded is not looked at any further; null if it is.
    private static @Nullable MutableHttpResponse<byte[]> refusal(
            HttpRequest<?> request, @Nullable ApiRoute route, Caller caller, @Nullable RunId run) {
        if (route == null) {
            return ApiRoute.isKnown(request.getPath())
                    ? Problem.response(HttpStatus.METHOD_NOT_ALLOWED, "this is not asked that way; see openapi.json")
                    : Problem.response(HttpStatus.NOT_FOUND, "there is no such route; see /api/v1/openapi.json");
        }
        if (route.method() != HttpMethod.GET && !isOwnPage(request.getHeaders())) {
            return Problem.response(HttpStatus.FORBIDDEN, "a page of another origin asks");
        }
        if (!caller.role().may(route.right())) {
            return Problem.response(
                    HttpStatus.FORBIDDEN, "the role " + caller.role().word() + " may not do this");
        }
        Set<RunId> only = caller.runs();
        return only == null || run != null && only.contains(run)
                ? null
                : Problem.response(HttpStatus.FORBIDDEN, "this token is for other runs alone");
    }

    static @Nullable Endpoint remote(HttpRequest<?> request) {
        InetSocketAddress from = request.getRemoteAddress();
        return from == null || from.getAddress() == null
                ? null
                : new Endpoint(IpAddress.text(from.getAddress().getAddress()), from.getPort());
    }

    /// Whether no page asks, or one from where this is served.
    static boolean isOwnPage(HttpHeaders headers) {
        String origin = headers.get(HttpHeaders.ORIGIN);
        if (origin == null) {
            return true;
        }
        try {
            String asking = URI.create(origin).getRawAuthority();
            return asking != null && asking.equalsIgnoreCase(headers.get(HttpHeaders.HOST));
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /// Tells [AnswerMeter] which request is answered.
    @ResponseFilter
    void mark(HttpRequest<?> request, MutableHttpResponse<?> response) {
        mark(request.getAttribute(ASKED, Asked.class).orElse(null), response);
    }

    private void mark(@Nullable Asked asked, MutableHttpResponse<?> response) {
        if (asked != null) {
            metrics.answered(asked.route(), response.code(), System.nanoTime() - asked.beganNs());
            response.header(AnswerMeter.NUMBER, Long.toString(asked.number()));
        }
    }
}
