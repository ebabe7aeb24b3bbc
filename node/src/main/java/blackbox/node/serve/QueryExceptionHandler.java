package blackbox.node.serve;

import blackbox.query.QueryException;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.server.exceptions.ExceptionHandler;
import jakarta.inject.Singleton;

/// Turns a question that could not be answered into problem+json.
@Singleton
final class QueryExceptionHandler implements ExceptionHandler<QueryException, HttpResponse<byte[]>> {

    @Override
    @SuppressWarnings("rawtypes") // as the interface declares it
    public HttpResponse<byte[]> handle(HttpRequest request, QueryException exception) {
        HttpStatus status = switch (exception.code()) {
            case BAD_INPUT -> HttpStatus.BAD_REQUEST;
            case NOT_FOUND -> HttpStatus.NOT_FOUND;
            case STORE -> HttpStatus.INTERNAL_SERVER_ERROR;
            case ENGINE -> HttpStatus.SERVICE_UNAVAILABLE;
        };
        return Problem.response(status, String.valueOf(exception.getMessage()));
    }
}
