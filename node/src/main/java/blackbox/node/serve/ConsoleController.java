package blackbox.node.serve;

import blackbox.console.ConsolePage;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Produces;
import java.io.IOException;

/// The console's page. It needs no token, because it holds nothing: what it shows it asks of the API, with a token
/// that its user gives it.
@Controller
final class ConsoleController {

    @Get("/console")
    @Produces(MediaType.TEXT_HTML)
    HttpResponse<byte[]> page() throws IOException {
        return HttpResponse.ok(ConsolePage.octets())
                // What a page cannot say of itself; the rest of its policy is in it.
                .header("Content-Security-Policy", "frame-ancestors 'none'")
                .header("X-Frame-Options", "DENY")
                .header("X-Content-Type-Options", "nosniff")
                .header("Referrer-Policy", "no-referrer")
                .header("Cross-Origin-Opener-Policy", "same-origin")
                .header(HttpHeaders.CACHE_CONTROL, "no-store");
    }
}
