package blackbox.node.serve;

import io.micronaut.core.annotation.Order;
import io.micronaut.core.order.Ordered;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.annotation.RequestFilter;
import io.micronaut.http.annotation.ServerFilter;
import org.jspecify.annotations.Nullable;

/// Refuses requests whose `Host` is not a name of this service.
@ServerFilter("/**")
@Order(Ordered.HIGHEST_PRECEDENCE)
final class HostFilter {

    private final ApiAddress address;

    HostFilter(ApiAddress address) {
        this.address = address;
    }

    @RequestFilter
    @Nullable
    HttpResponse<?> check(HttpRequest<?> request) {
        if (address.answersTo(request.getHeaders().get(HttpHeaders.HOST))) {
            return null;
        }
        return Problem.response(
                HttpStatus.MISDIRECTED_REQUEST,
                "this service is not known by that name; start it with --name NAME if it should be");
    }
}
