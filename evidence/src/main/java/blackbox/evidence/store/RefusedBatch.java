package blackbox.evidence.store;

import blackbox.files.BoundedFiles;
import blackbox.files.RefusedFileException;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// What ingest stores about a batch that it refused, as a JSON file in the quarantine.
///
/// @param run the run that it claimed to belong to, or null
/// @param sequence the batch number that it claimed, or -1
/// @param reason the name of the fault
/// @param what the fault in words
/// @param stopsRun whether it was in the place of a genuine batch: the run cannot continue then
/// @param bytes its length
/// @param kept whether its octets are beside this file
public record RefusedBatch(
        @Nullable RunId run,
        long sequence,
        String reason,
        String what,
        boolean stopsRun,
        Instant at,
        long bytes,
        Hash sha256,
        boolean kept) {

    private static final int VERSION = 1;

    /// A few numbers, and words that we wrote.
    private static final int JSON_BYTES_MAX = 1 << 20;

    private static final String STOPS_RUN = "stopsRun";
    private static final JsonFactory JSON = new JsonFactory();

    /// The file's content.
    public byte[] toJson() throws IOException {
        var octets = new ByteArrayOutputStream();
        try (JsonGenerator out = JSON.createGenerator(octets)) {
            out.writeStartObject();
            out.writeNumberField("version", VERSION);
            out.writeStringField("run", run == null ? null : run.value());
            out.writeNumberField("sequence", sequence);
            out.writeStringField("reason", reason);
            out.writeStringField("what", what);
            out.writeBooleanField(STOPS_RUN, stopsRun);
            out.writeStringField("at", at.toString());
            out.writeNumberField("bytes", bytes);
            out.writeStringField("sha256", sha256.toString());
            out.writeBooleanField("kept", kept);
            out.writeEndObject();
        }
        return octets.toByteArray();
    }

    /// Whether the file says that its batch stopped the run. A file that does not say, or that is not one that is read,
    /// counts as if it did.
    ///
    /// @throws IOException when it cannot be read
    public static boolean stopsRun(Path file) throws IOException {
        try {
            return stopsRun(BoundedFiles.read(file, JSON_BYTES_MAX));
        } catch (RefusedFileException e) {
            return true;
        }
    }

    static boolean stopsRun(byte[] json) {
        try (JsonParser in = JSON.createParser(json)) {
            if (in.nextToken() != JsonToken.START_OBJECT) {
                return true;
            }
            Boolean said = null;
            while (in.nextToken() == JsonToken.FIELD_NAME) {
                String field = in.currentName();
                JsonToken value = in.nextToken();
                if (field.equals(STOPS_RUN)) {
                    boolean again = said != null;
                    said = again || value != JsonToken.VALUE_FALSE;
                } else {
                    in.skipChildren();
                }
            }
            return said == null || said;
        } catch (IOException e) {
            return true;
        }
    }
}
