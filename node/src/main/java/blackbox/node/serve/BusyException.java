package blackbox.node.serve;

import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.server.exceptions.ExceptionHandler;
import jakarta.inject.Singleton;

/// As much is being asked at once as may be.
final class BusyException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    BusyException(String message) {
        super(message);
    }

    /// Says so, and when to come again.
    @Singleton
    static final class Handler implements ExceptionHandler<BusyException, HttpResponse<byte[]>> {

        @Override
        @SuppressWarnings("rawtypes") // as the interface has it
        public HttpResponse<byte[]> handle(HttpRequest request, BusyException exception) {
            return Problem.response(HttpStatus.SERVICE_UNAVAILABLE, String.valueOf(exception.getMessage()))
                    .header(HttpHeaders.RETRY_AFTER, "5");
        }
    }
}
