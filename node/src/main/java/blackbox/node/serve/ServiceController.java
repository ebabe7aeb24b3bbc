package blackbox.node.serve;

import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Produces;
import java.io.IOException;
import java.io.InputStream;

/// Answers about the service itself: whether it is up (no token needed), and the OpenAPI document.
@Controller
final class ServiceController {

    @Get("/health")
    @Produces(MediaType.APPLICATION_JSON)
    byte[] health() {
        return ApiJson.document(out -> {
            out.writeStartObject();
            out.writeStringField("status", "UP");
            out.writeEndObject();
        });
    }

    @Get("/api/v1/openapi.json")
    @Produces(MediaType.APPLICATION_JSON)
    byte[] openApi() throws IOException {
        try (InputStream in = ServiceController.class.getResourceAsStream("openapi.json")) {
            if (in == null) {
                throw new IOException("the OpenAPI document is missing from this build");
            }
            return in.readAllBytes();
        }
    }
}
