package blackbox.node.serve;

import io.micronaut.context.annotation.Replaces;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MutableHttpResponse;
import io.micronaut.http.server.exceptions.response.Error;
import io.micronaut.http.server.exceptions.response.ErrorContext;
import io.micronaut.http.server.exceptions.response.ErrorResponseProcessor;
import jakarta.inject.Singleton;
import java.util.stream.Collectors;

/// Turns the errors that Micronaut itself detects (no such route, an invalid parameter) into problem+json.
@Singleton
@Replaces(ErrorResponseProcessor.class)
final class ProblemProcessor implements ErrorResponseProcessor<byte[]> {

    @Override
    public MutableHttpResponse<byte[]> processResponse(ErrorContext context, MutableHttpResponse<?> response) {
        HttpStatus status = response.status();
        boolean ours = status.getCode() >= HttpStatus.INTERNAL_SERVER_ERROR.getCode();
        String detail = ours
                ? "an internal error; the server's log says what failed"
                : context.getErrors().stream().map(Error::getMessage).collect(Collectors.joining("; "));
        return response.contentType(Problem.TYPE)
                .body(Problem.body(
                        status.getCode(), status.getReason(), detail.isEmpty() ? status.getReason() : detail));
    }
}
