package blackbox.node.serve;

import blackbox.node.access.AccessLog;
import blackbox.node.access.ApiTokens;
import blackbox.node.access.Grant;
import blackbox.node.login.OidcException;
import blackbox.node.login.OidcLogin;
import blackbox.query.QueryException;
import blackbox.query.QueryException.Code;
import blackbox.recorder.RecorderException;
import com.fasterxml.jackson.databind.JsonNode;
import io.micronaut.http.HttpHeaders;
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
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Gives a token to whoever an identity provider says that it is. What it answers and refuses is in the record of
/// access; there is no cookie, so no other site can send anything in somebody's name.
@Controller
@ExecuteOn(TaskExecutors.BLOCKING)
final class LoginController {

    private static final int CHARS_MAX = 4_000;

    private final ApiContext context;
    private final RequestLimiter begun = new RequestLimiter(8, "people who begin to log in");
    private final RequestLimiter logins = new RequestLimiter(8, "logins");

    LoginController(ApiContext context) {
        this.context = context;
    }

    /// What a browser needs to begin; all null if people need a token that was made here.
    @Get(value = "/login", produces = MediaType.APPLICATION_JSON)
    HttpResponse<byte[]> begin() throws InterruptedException {
        OidcLogin login = context.login();
        try (RequestLimiter.Slot _ = begun.take()) {
            OidcLogin.@Nullable Begin begin = login == null ? null : login.begin();
            return HttpResponse.ok(ApiJson.document(out -> {
                out.writeStartObject();
                out.writeFieldName("oidc");
                if (login == null || begin == null) {
                    out.writeNull();
                } else {
                    out.writeStartObject();
                    out.writeStringField("issuer", login.settings().issuer().toString());
                    out.writeStringField(
                            "authorizationEndpoint", begin.authorization().toString());
                    out.writeStringField("clientId", begin.clientId());
                    out.writeStringField("scope", begin.scope());
                    out.writeStringField("redirectUri", begin.redirectUri().toString());
                    out.writeEndObject();
                }
                out.writeEndObject();
            }));
        } catch (OidcException e) {
            return Problem.response(HttpStatus.BAD_GATEWAY, String.valueOf(e.getMessage()));
        }
    }

    /// The body is JSON, of what a browser came back with: `{"code", "verifier", "nonce"}`.
    @Post(value = "/login", consumes = MediaType.APPLICATION_JSON, produces = MediaType.APPLICATION_JSON)
    HttpResponse<byte[]> login(HttpRequest<?> request, @Body String body) throws IOException, InterruptedException {
        OidcLogin login = context.login();
        if (login == null) {
            return refused(request, HttpStatus.NOT_FOUND, "nobody logs in here; `blackbox token create` makes tokens");
        }
        if (!AccessFilter.isOwnPage(request.getHeaders())) {
            return refused(request, HttpStatus.FORBIDDEN, "another site's page cannot log anybody in");
        }
        try (RequestLimiter.Slot _ = logins.take()) {
            return answer(request, login, login.redeem(redeemed(body)));
        } catch (OidcException e) {
            HttpStatus status = switch (e.why()) {
                case REFUSED -> HttpStatus.UNAUTHORIZED;
                case NO_ROLE -> HttpStatus.FORBIDDEN;
                case PROVIDER -> HttpStatus.BAD_GATEWAY;
            };
            return refused(request, status, String.valueOf(e.getMessage()));
        } catch (QueryException e) {
            return refused(request, HttpStatus.BAD_REQUEST, String.valueOf(e.getMessage()));
        }
    }

    private HttpResponse<byte[]> answer(HttpRequest<?> request, OidcLogin login, OidcLogin.Person person)
            throws IOException {
        ApiTokens.Made made;
        try {
            made = ApiTokens.login(
                    context.data(),
                    person.subject(),
                    person.role(),
                    login.settings().session(),
                    login.settings().issuer().toString());
        } catch (IllegalArgumentException e) {
            return refused(request, HttpStatus.FORBIDDEN, "the identity provider's name for you: " + e.getMessage());
        } catch (IllegalStateException e) {
            return refused(request, HttpStatus.SERVICE_UNAVAILABLE, String.valueOf(e.getMessage()));
        }
        Grant grant = made.grant();
        long number;
        try {
            number = context.access()
                    .begin(new AccessLog.Request(
                            grant.caller(), AccessFilter.remote(request), AccessLog.LOGIN, null, "/login"));
        } catch (RecorderException e) {
            ApiTokens.revoke(context.data(), grant.id()); // nobody has it
            return AccessFilter.notRecorded(e);
        }
        AnswerMeter.expect(context.access(), request.getHeaders().get(AnswerMeter.CONNECTION), number);
        byte[] answer = ApiJson.document(out -> {
            out.writeStartObject();
            out.writeStringField("token", made.token());
            out.writeStringField("subject", grant.subject());
            out.writeStringField("role", grant.role().word());
            out.writeStringField("expires", String.valueOf(grant.expires()));
            out.writeEndObject();
        });
        return HttpResponse.ok(answer)
                .header(AnswerMeter.NUMBER, Long.toString(number))
                .header(HttpHeaders.CACHE_CONTROL, "no-store");
    }

    private HttpResponse<byte[]> refused(HttpRequest<?> request, HttpStatus status, String why) {
        context.access().refuse(AccessFilter.remote(request), AccessLog.LOGIN, status.getCode());
        return Problem.response(status, why);
    }

    private static OidcLogin.Redeemed redeemed(String body) throws QueryException {
        JsonNode said = ApiJson.parse(body);
        return new OidcLogin.Redeemed(text(said, "code"), text(said, "verifier"), text(said, "nonce"));
    }

    private static String text(JsonNode said, String name) throws QueryException {
        String text = said.path(name).textValue();
        if (text == null || text.isEmpty() || text.length() > CHARS_MAX) {
            throw new QueryException(
                    Code.BAD_INPUT, "the body must be {\"code\": \"…\", \"verifier\": \"…\", \"nonce\": \"…\"}");
        }
        return text;
    }

    /// Ends the caller's login: its token is refused from now on. A token that was made here stays.
    @Post("/api/v1/logout")
    HttpResponse<byte[]> logout(HttpRequest<?> request) throws IOException {
        String id = AccessFilter.caller(request).token();
        boolean isLogin =
                context.tokens().grants().stream().anyMatch(each -> each.id().equals(id) && each.issuer() != null);
        if (!isLogin) {
            return Problem.response(HttpStatus.CONFLICT, "this token is no login's; `blackbox token revoke` ends it");
        }
        ApiTokens.revoke(context.data(), id);
        return HttpResponse.ok(ApiJson.document(out -> {
            out.writeStartObject();
            out.writeStringField("ended", id);
            out.writeEndObject();
        }));
    }
}
