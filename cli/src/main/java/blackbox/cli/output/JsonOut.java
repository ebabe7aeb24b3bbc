package blackbox.cli.output;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import java.io.IOException;
import java.io.PrintWriter;

/// JSON on standard output: one document, or one object a line.
public final class JsonOut {

    /// Writes with a generator.
    @FunctionalInterface
    public interface Body {
        void write(JsonGenerator out) throws IOException;
    }

    private JsonOut() {}

    /// Writes one document and its newline.
    public static void document(PrintWriter out, Body body) throws IOException {
        JsonGenerator generator = lines(out);
        body.write(generator);
        generator.flush();
        out.println();
        out.flush();
    }

    /// A generator that puts a newline between objects; the caller flushes it.
    public static JsonGenerator lines(PrintWriter out) throws IOException {
        return new JsonFactory()
                .createGenerator(out)
                .configure(JsonGenerator.Feature.AUTO_CLOSE_TARGET, false)
                .setPrettyPrinter(new MinimalPrettyPrinter("\n"));
    }
}
