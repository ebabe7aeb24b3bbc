package blackbox.cli.export;

import blackbox.schemas.RunId;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// What `export` writes.
enum ExportFormat {
    BUNDLE("bundle", ".bundle.zip"),
    HTML("html", ".html"),
    TILES("tiles", ".tiles"),
    REPLAY("replay", ".bbrun"),
    PDF("pdf", ".pdf"),
    CONTROLS("controls", ".controls.json"),
    OCSF("ocsf", ".ocsf.jsonl"),
    OCSF_PARQUET("ocsf-parquet", ".ocsf.parquet"),
    OTLP("otlp", ".otlp.jsonl"),
    JSON("json", ".jsonl"),
    CSV("csv", ".csv"),
    CHROME_TRACE("chrome-trace", ".trace.json"),
    PCAPNG("pcapng", ".pcapng"),
    ASCIICAST("asciicast", ".cast");

    private static final String OTHER_NAME_OF_TILES = "static-log";

    private final String text;
    private final String suffix;

    ExportFormat(String text, String suffix) {
        this.text = text;
        this.suffix = suffix;
    }

    /// The name that the option takes.
    @Override
    public String toString() {
        return text;
    }

    /// The file that is written where the user names none.
    Path defaultFile(RunId run) {
        return Path.of(run + suffix);
    }

    /// The names, for completion.
    static final class Names implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Arrays.stream(values()).map(ExportFormat::toString).iterator();
        }
    }

    /// Reads a name.
    static final class Converter implements ITypeConverter<ExportFormat> {
        @Override
        public ExportFormat convert(String name) {
            if (name.equals(OTHER_NAME_OF_TILES)) {
                return TILES;
            }
            for (ExportFormat format : values()) {
                if (format.text.equals(name)) {
                    return format;
                }
            }
            throw new TypeConversionException(
                    "'" + name + "' is no format; there are " + String.join(", ", new Names()));
        }
    }
}
