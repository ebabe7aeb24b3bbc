package blackbox.query.export;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.Writer;

/// JSON documents, one a line.
public final class JsonLines {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private JsonLines() {}

    /// A generator that leaves `to` open.
    public static JsonGenerator to(Writer to) throws IOException {
        return MAPPER.getFactory()
                .createGenerator(to)
                .configure(JsonGenerator.Feature.AUTO_CLOSE_TARGET, false)
                .setPrettyPrinter(new MinimalPrettyPrinter("\n"));
    }

    /// Ends the last line.
    public static void end(JsonGenerator out) throws IOException {
        out.writeRaw('\n');
        out.flush();
    }
}
