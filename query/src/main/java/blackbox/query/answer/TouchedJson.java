package blackbox.query.answer;

import blackbox.query.calls.BudgetUse;
import blackbox.query.calls.CallsJson;
import blackbox.query.sides.GuestAndHostJson;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// [Touched] as a JSON object in the form of the command-line contract.
public final class TouchedJson {

    private final JsonGenerator out;

    private TouchedJson(JsonGenerator out) {
        this.out = out;
    }

    /// Writes it, with the parts that are wanted.
    public static void write(JsonGenerator out, Touched touched, Set<TouchedPart> parts) throws IOException {
        out.writeStartObject();
        writeFields(out, touched, parts);
        out.writeEndObject();
    }

    /// Writes them, with the parts that are wanted, as one object.
    public static void write(JsonGenerator out, ContainerCollector.Containers containers, Set<TouchedPart> parts)
            throws IOException {
        var json = new TouchedJson(out);
        out.writeStartObject();
        out.writeArrayFieldStart("containers");
        for (ContainerCollector.Part each : containers.parts()) {
            out.writeStartObject();
            json.id(each.id());
            out.writeNumberField("from", each.from());
            out.writeStringField("program", each.program());
            writeFields(out, each.touched(), parts);
            out.writeEndObject();
        }
        out.writeEndArray();
        json.limits(containers.limits());
        out.writeEndObject();
    }

    private void id(ContainerCollector.@Nullable Id id) throws IOException {
        if (id == null) {
            out.writeNullField("container");
            return;
        }
        out.writeObjectFieldStart("container");
        out.writeArrayFieldStart("numbers");
        for (long number : id.numbers()) {
            out.writeNumber(number);
        }
        out.writeEndArray();
        out.writeBooleanField("unknown", id.isUnknown());
        number("mountSequence", id.mountSequence());
        number("mountNamespace", id.mountNamespace());
        text("chroot", id.chroot());
        text("root", id.root());
        out.writeEndObject();
    }

    /// Writes the fields of the object, which the caller begins and ends.
    public static void writeFields(JsonGenerator out, Touched touched, Set<TouchedPart> parts) throws IOException {
        var json = new TouchedJson(out);
        for (TouchedPart part : parts) {
            switch (part) {
                case FILES -> {
                    json.files(touched.files());
                    json.refused(touched.refused());
                }
                case PROCESSES -> json.processes(touched.processes());
                case EGRESS -> {
                    json.egress(touched.egress());
                    json.linkLayer(touched.linkLayer());
                    json.decisions(touched.decisions());
                    json.requests(touched.requests());
                    json.secrets(touched.secrets());
                    json.budgets(touched.budgets());
                    GuestAndHostJson.writeField(out, touched.sides());
                }
                case PRIVILEGES -> json.privileges(touched.privileges());
                case CALLS -> {
                    CallsJson.writeFields(out, touched.calls());
                    if (!parts.contains(TouchedPart.EGRESS)) {
                        json.requests(touched.requests());
                    }
                }
            }
        }
        json.limits(touched.limits());
    }

    private void limits(List<String> limits) throws IOException {
        out.writeArrayFieldStart("limits");
        for (String limit : limits) {
            out.writeString(limit);
        }
        out.writeEndArray();
    }

    private void files(List<Touched.FileUse> files) throws IOException {
        out.writeArrayFieldStart("files");
        for (Touched.FileUse file : files) {
            Touched.FileDeeds deeds = file.deeds();
            out.writeStartObject();
            text("path", file.path());
            out.writeBooleanField("read", deeds.read());
            out.writeBooleanField("written", deeds.written());
            out.writeBooleanField("created", deeds.created());
            out.writeBooleanField("deleted", deeds.deleted());
            out.writeNumberField("bytesRead", file.bytesRead());
            out.writeNumberField("bytesWritten", file.bytesWritten());
            out.writeBooleanField("opened", deeds.opened());
            out.writeBooleanField("attributesChanged", deeds.attributes());
            out.writeBooleanField("mappedForWriting", deeds.mapped());
            text("renamedTo", file.renamedTo());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private void refused(List<Touched.FileRefusal> refused) throws IOException {
        out.writeArrayFieldStart("refused");
        for (Touched.FileRefusal each : refused) {
            out.writeStartObject();
            out.writeStringField("act", each.act());
            out.writeStringField("path", each.path());
            out.writeStringField("by", each.by());
            out.writeStringField("error", each.error());
            out.writeNumberField("index", each.index());
            out.writeNumberField("count", each.count());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private void decisions(List<Touched.EgressDecision> decisions) throws IOException {
        out.writeArrayFieldStart("egressDecisions");
        for (Touched.EgressDecision each : decisions) {
            out.writeStartObject();
            out.writeStringField("verdict", each.verdict());
            out.writeStringField("stage", each.stage());
            out.writeStringField("protocol", each.protocol());
            out.writeStringField("to", each.to());
            number("port", each.port());
            out.writeStringField("rule", each.rule());
            out.writeStringField("reason", each.reason());
            out.writeNumberField("index", each.index());
            out.writeNumberField("count", each.count());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private void requests(List<Touched.HttpRequest> requests) throws IOException {
        out.writeArrayFieldStart("httpRequests");
        for (Touched.HttpRequest each : requests) {
            out.writeStartObject();
            out.writeStringField("method", each.method());
            out.writeStringField("url", each.url());
            out.writeNumberField("status", each.status());
            out.writeStringField("ended", each.ending());
            out.writeStringField("rule", each.rule());
            out.writeNumberField("bytesOut", each.octets().out());
            out.writeNumberField("bytesIn", each.octets().in());
            out.writeNumberField("index", each.index());
            out.writeNumberField("count", each.count());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private void budgets(List<BudgetUse> budgets) throws IOException {
        out.writeArrayFieldStart("budgets");
        for (BudgetUse each : budgets) {
            out.writeStartObject();
            out.writeStringField("rule", each.rule());
            out.writeStringField("limit", each.limit());
            if (each.limit().equals("usd")) {
                out.writeStringField("spent", each.amount(each.spent()));
                out.writeStringField("most", each.amount(each.most()));
            } else {
                out.writeNumberField("spent", each.spent());
                out.writeNumberField("most", each.most());
            }
            out.writeNumberField("estimatedCalls", each.estimated());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private void secrets(List<Touched.SecretUse> secrets) throws IOException {
        out.writeArrayFieldStart("secrets");
        for (Touched.SecretUse each : secrets) {
            out.writeStartObject();
            out.writeStringField("secret", each.secret());
            out.writeStringField("what", each.how());
            out.writeStringField("to", each.to());
            Long port = each.port();
            if (port == null) {
                out.writeNullField("port");
            } else {
                out.writeNumberField("port", port);
            }
            out.writeStringField("rule", each.rule());
            out.writeStringField("place", each.place());
            out.writeNumberField("times", each.times());
            out.writeNumberField("index", each.index());
            out.writeNumberField("count", each.count());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private void processes(List<Touched.ProgramRun> processes) throws IOException {
        out.writeArrayFieldStart("processes");
        for (Touched.ProgramRun process : processes) {
            out.writeStartObject();
            out.writeStringField("key", process.key());
            out.writeNumberField("pid", process.pid());
            number("ppid", process.ppid());
            text("exe", process.exe());
            argv(process.argv());
            number("exitCode", process.end().exitCode());
            number("signal", process.end().signal());
            out.writeBooleanField("forked", process.forked());
            if (process.moved()) {
                out.writeBooleanField("moved", true);
            }
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private void argv(@Nullable List<Text> argv) throws IOException {
        if (argv == null) {
            out.writeNullField("argv");
            return;
        }
        out.writeArrayFieldStart("argv");
        for (Text argument : argv) {
            out.writeString(argument.toString());
        }
        out.writeEndArray();
        if (!argv.stream().allMatch(Text::isUtf8)) {
            out.writeArrayFieldStart("argvBytes");
            for (Text argument : argv) {
                out.writeBinary(argument.toBytes());
            }
            out.writeEndArray();
        }
    }

    private void egress(List<Touched.Flow> flows) throws IOException {
        out.writeArrayFieldStart("egress");
        for (Touched.Flow flow : flows) {
            out.writeStartObject();
            out.writeStringField("protocol", flow.protocol());
            String local = flow.local();
            if (local != null) {
                int split = local.lastIndexOf(' ');
                endpoint("local", local.substring(0, split), Integer.valueOf(local.substring(split + 1)));
            }
            endpoint("remote", flow.remoteIp(), flow.remotePort());
            out.writeStringField("host", flow.host());
            out.writeNumberField("bytesOut", flow.bytesOut());
            out.writeNumberField("bytesIn", flow.bytesIn());
            out.writeBooleanField("seenByGuest", flow.guest() != null);
            out.writeBooleanField("seenByHost", flow.onWire() != null);
            octets("guestBytes", flow.guest());
            octets("hostBytes", flow.onWire());
            number("failedWith", flow.failedWith());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private void linkLayer(List<Touched.LinkTraffic> links) throws IOException {
        out.writeArrayFieldStart("linkLayer");
        for (Touched.LinkTraffic link : links) {
            out.writeStartObject();
            out.writeStringField("protocol", link.protocol());
            out.writeNumberField("bytesOut", link.onWire().out());
            out.writeNumberField("bytesIn", link.onWire().in());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private void endpoint(String field, String ip, @Nullable Integer port) throws IOException {
        out.writeObjectFieldStart(field);
        out.writeStringField("ip", ip);
        if (port != null) {
            out.writeNumberField("port", port);
        }
        out.writeEndObject();
    }

    private void octets(String field, Touched.@Nullable Octets octets) throws IOException {
        if (octets != null) {
            out.writeObjectFieldStart(field);
            out.writeNumberField("out", octets.out());
            out.writeNumberField("in", octets.in());
            out.writeEndObject();
        }
    }

    private void privileges(List<Touched.PrivilegeUse> privileges) throws IOException {
        out.writeArrayFieldStart("privileges");
        for (Touched.PrivilegeUse use : privileges) {
            out.writeStartObject();
            out.writeStringField("what", use.what());
            out.writeStringField("subject", use.subject());
            out.writeStringField("comm", use.comm());
            out.writeNumberField("index", use.index());
            out.writeNumberField("count", use.count());
            out.writeBooleanField("refused", use.refused());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private void text(String field, @Nullable Text text) throws IOException {
        if (text == null) {
            out.writeNullField(field);
            return;
        }
        out.writeStringField(field, text.toString());
        if (!text.isUtf8()) {
            out.writeBinaryField(field + "Bytes", text.toBytes());
        }
    }

    private void number(String field, @Nullable Long number) throws IOException {
        if (number == null) {
            out.writeNullField(field);
        } else {
            out.writeNumberField(field, number);
        }
    }
}
