package blackbox.node.serve;

import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.annotation.RequestFilter;
import io.micronaut.http.annotation.ServerFilter;
import org.jspecify.annotations.Nullable;

/// Lets only callers with the token through to the API.
@ServerFilter("/api/**")
final class TokenFilter {

    private final ApiContext context;

    TokenFilter(ApiContext context) {
        this.context = context;
    }

    @RequestFilter
    @Nullable
    HttpResponse<?> check(HttpRequest<?> request) {
        String header = request.getHeaders().get(HttpHeaders.AUTHORIZATION);
        if (header != null && context.token().isCarriedBy(header)) {
            return null;
        }
        return Problem.response(HttpStatus.UNAUTHORIZED, "send the token as `Authorization: Bearer …`")
                .header(HttpHeaders.WWW_AUTHENTICATE, "Bearer realm=\"blackbox\"");
    }
}
