package blackbox.node.serve;

import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.server.exceptions.ExceptionHandler;
import jakarta.inject.Singleton;

/// The limit of simultaneous requests is reached.
final class BusyException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    BusyException(String message) {
        super(message);
    }

    /// Answers 503 and says when to try again.
    @Singleton
    static final class Handler implements ExceptionHandler<BusyException, HttpResponse<byte[]>> {

        @Override
        @SuppressWarnings("rawtypes") // as the interface declares it
        public HttpResponse<byte[]> handle(HttpRequest request, BusyException exception) {
            return Problem.response(HttpStatus.SERVICE_UNAVAILABLE, String.valueOf(exception.getMessage()))
                    .header(HttpHeaders.RETRY_AFTER, "5");
        }
    }
}
