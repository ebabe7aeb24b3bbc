package blackbox.console;

import java.io.IOException;

/// The page of the service's console.
public final class ConsolePage {
    static final String NAME = "console.html";

    private ConsolePage() {}

    /// The page, as HTML. Its policy is in it, and it asks only the service that serves it.
    public static byte[] octets() throws IOException {
        return EvidencePage.resource(NAME);
    }
}
