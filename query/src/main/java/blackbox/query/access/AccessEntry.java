package blackbox.query.access;

import blackbox.evidence.text.Timestamps;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// A request to the service, with its answer as far as it is known.
///
/// @param record the run that has it
/// @param index of the request's event
/// @param subject who asked; null if nobody was recognised
/// @param what method and route; of requests that were only counted, `refused`
/// @param run that it is about; null if that is none
/// @param target path and query, as they were sent
/// @param said what its body asks for; null if it has none
/// @param status of the answer; null if the record ends before it
/// @param bytes of the answer's body that went out; null as above
/// @param ended `complete` or `cut`; null as above
/// @param count how many requests this stands for
public record AccessEntry(
        RunId record,
        long index,
        long atNs,
        @Nullable String subject,
        @Nullable String role,
        @Nullable String token,
        @Nullable String remote,
        String what,
        @Nullable String run,
        @Nullable String target,
        @Nullable String said,
        @Nullable Integer status,
        @Nullable Long bytes,
        @Nullable String ended,
        long count) {

    AccessEntry about(@Nullable String about, @Nullable String more) {
        return new AccessEntry(
                record, index, atNs, subject, role, token, remote, what, about, target, more, status, bytes, ended,
                count);
    }

    AccessEntry answered(int with, long octets, @Nullable String how) {
        return new AccessEntry(
                record, index, atNs, subject, role, token, remote, what, run, target, said, with, octets, how, count);
    }

    /// Writes it as one object.
    public void write(JsonGenerator out) throws IOException {
        out.writeStartObject();
        out.writeStringField("at", Timestamps.format(atNs));
        out.writeStringField("subject", subject);
        out.writeStringField("role", role);
        out.writeStringField("token", token);
        out.writeStringField("remote", remote);
        out.writeStringField("what", what);
        out.writeStringField("run", run);
        out.writeStringField("target", target);
        out.writeStringField("said", said);
        if (status == null) {
            out.writeNullField("status");
        } else {
            out.writeNumberField("status", status);
        }
        if (bytes == null) {
            out.writeNullField("bytes");
        } else {
            out.writeNumberField("bytes", bytes);
        }
        out.writeStringField("ended", ended);
        out.writeNumberField("count", count);
        out.writeStringField("record", record.value());
        out.writeNumberField("index", index);
        out.writeEndObject();
    }
}
