package blackbox.query.run;

import blackbox.evidence.verify.LeafDetail;
import blackbox.schemas.Hash;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// What was started, according to a run's first leaf: the detail of `run.open`, written and read only here;
/// see `schemas/events.md`.
///
/// Null means that the leaf does not say: another version may have written it, and whoever needs a field
/// reports that it is missing. A value that is present but cannot be read is refused.
///
/// @param snapshot digest of the warm snapshot, or null if there was none
public record RunOpening(
        @Nullable RecordedTier tier,
        @Nullable Image image,
        @Nullable Hash snapshot,
        Agent agent,
        GuestInputs inputs,
        @Nullable Recorder recorder,
        @Nullable Machine machine) {

    private static final ObjectMapper JSON = new ObjectMapper();

    /// @param label `live` or `exact`
    /// @param asked what was requested, which may be `auto`
    /// @param reason why this tier was chosen, as a sentence
    public record RecordedTier(
            String label, @Nullable String asked, @Nullable String reason) {}

    /// The guest's image.
    public record Image(String name, Hash digest) {}

    /// @param command its words, each [blackbox.schemas.OctetText]
    /// @param environment names of the variables that were added
    /// @param user `agent` or `root`
    /// @param network `none`, `user` or `gateway`
    /// @param pidsMax most processes and threads at once, 0 for no limit
    /// @param diskBytesMax what its disk could hold, null if the leaf does not say: then what the VM's had room
    ///     for
    /// @param terminal that it was given, null if it had pipes
    /// @param trusted the certificate of the authority, in PEM, that its programs were to trust, null if none
    /// @param surrogates what stands for secrets in the environment, by the names of the variables: those values
    ///     are recorded, since they open nothing
    public record Agent(
            List<String> command,
            List<String> environment,
            @Nullable String user,
            @Nullable String network,
            int pidsMax,
            @Nullable Long diskBytesMax,
            @Nullable Terminal terminal,
            @Nullable String trusted,
            Map<String, String> surrogates) {
        public Agent {
            surrogates = Collections.unmodifiableMap(new TreeMap<>(surrogates));
            command = List.copyOf(command);
            environment = List.copyOf(environment);
        }
    }

    /// A terminal's first size, and its type.
    public record Terminal(int rows, int columns, String type) {}

    /// What else the guest was given.
    ///
    /// @param workspace digest of the archive that went in
    /// @param workspaceBytes its length; 0 if there was none
    /// @param entropy digest of the seed of its random generator
    public record GuestInputs(
            @Nullable Hash workspace,
            long workspaceBytes,
            @Nullable Hash entropy) {}

    /// The recorder.
    ///
    /// @param key the long-term key's verifier key
    /// @param certificate the run key's certificate, a signed note
    /// @param outputBytesMax how many octets of each stream it kept of what the agent printed, 0 for none; null
    ///     if the leaf does not say: then it kept none
    public record Recorder(
            String version,
            String key,
            String certificate,
            @Nullable Long outputBytesMax) {}

    /// The machine that was started.
    ///
    /// @param qemu its version, as it reports it
    /// @param accelerator its name
    /// @param why why that accelerator
    /// @param confinement what QEMU was confined with, or `none`; null if the leaf does not say: then with
    /// nothing
    /// @param startedFrom `snapshot` or `cold`
    public record Machine(
            String qemu,
            Hash qemuDigest,
            String accelerator,
            @Nullable String why,
            @Nullable String confinement,
            int memoryMib,
            int vcpus,
            @Nullable String startedFrom,
            long tookMs,
            @Nullable String bootId,
            @Nullable String kernel,
            long guestBootNs,
            long clockErrorNs,
            List<String> argv) {
        public Machine {
            argv = List.copyOf(argv);
        }
    }

    /// What a list of runs shows of it: texts as the leaf has them, of which nothing is checked; null where it
    /// has none.
    public record Summary(
            @Nullable String tier,
            @Nullable String imageName,
            @Nullable String imageDigest) {}

    /// The detail of the first leaf of a run that is a service's own record, and not an agent's.
    ///
    /// @param idle how long nothing need be sealed while nothing happens
    public static String ofService(String service, Duration idle, Recorder recorder) {
        ObjectNode leaf =
                JSON.createObjectNode().put(LeafDetail.SERVICE, service).put(LeafDetail.IDLE_SECONDS, idle.toSeconds());
        write(leaf.putObject(LeafDetail.RECORDER), recorder);
        return leaf.toString();
    }

    /// As the leaf stores it.
    public String toJson() {
        ObjectNode leaf = JSON.createObjectNode();
        if (tier != null) {
            leaf.put("tier", tier.label()).put("tierAsked", tier.asked()).put("tierReason", tier.reason());
        }
        if (image != null) {
            leaf.putObject("image")
                    .put("name", image.name())
                    .put("digest", image.digest().toString());
        }
        leaf.put("snapshot", snapshot == null ? null : snapshot.toString());
        SealedCommand.put(leaf, agent.command());
        agent.environment().forEach(leaf.putArray("environment")::add);
        leaf.put("user", agent.user()).put("network", agent.network());
        if (agent.pidsMax() > 0) {
            leaf.put("pidsMax", agent.pidsMax());
        }
        if (agent.diskBytesMax() != null) {
            leaf.put("diskBytesMax", agent.diskBytesMax());
        }
        Terminal terminal = agent.terminal();
        if (terminal != null) {
            leaf.putObject("tty")
                    .put("rows", terminal.rows())
                    .put("columns", terminal.columns())
                    .put("term", terminal.type());
        }
        if (agent.trusted() != null) {
            leaf.put("trusted", agent.trusted());
        }
        if (!agent.surrogates().isEmpty()) {
            agent.surrogates().forEach(leaf.putObject("surrogates")::put);
        }
        if (inputs.workspace() != null) {
            leaf.putObject("workspace")
                    .put("sha256", String.valueOf(inputs.workspace()))
                    .put("bytes", inputs.workspaceBytes());
        }
        if (inputs.entropy() != null) {
            leaf.putObject("entropy").put("sha256", String.valueOf(inputs.entropy()));
        }
        if (recorder != null) {
            write(leaf.putObject(LeafDetail.RECORDER), recorder);
        }
        if (machine != null) {
            write(leaf.putObject("start"), machine);
        }
        return leaf.toString();
    }

    private static void write(ObjectNode leaf, Recorder recorder) {
        leaf.put("version", recorder.version()).put("key", recorder.key());
        leaf.put(LeafDetail.CERTIFICATE, recorder.certificate());
        if (recorder.outputBytesMax() != null) {
            leaf.put("outputBytesMax", recorder.outputBytesMax());
        }
    }

    private static void write(ObjectNode start, Machine machine) {
        start.put("qemu", machine.qemu()).put("qemuSha256", machine.qemuDigest().toString());
        start.put("accelerator", machine.accelerator()).put("why", machine.why());
        if (machine.confinement() != null) {
            start.put("confinement", machine.confinement());
        }
        start.put("memoryMib", machine.memoryMib()).put("vcpus", machine.vcpus());
        start.put("from", machine.startedFrom()).put("tookMs", machine.tookMs());
        start.put("bootId", machine.bootId()).put("kernel", machine.kernel());
        start.put("guestBootNs", machine.guestBootNs()).put("clockErrorNs", machine.clockErrorNs());
        machine.argv().forEach(start.putArray("argv")::add);
    }

    /// Reads a leaf's detail; a missing node counts as empty.
    ///
    /// @throws IllegalArgumentException when a digest or the command's octets are malformed
    public static RunOpening of(JsonNode detail) {
        return new RunOpening(
                tier(detail),
                image(detail.path("image")),
                hash(detail.path("snapshot")),
                new Agent(
                        SealedCommand.of(detail),
                        texts(detail.path("environment")),
                        text(detail.path("user")),
                        text(detail.path("network")),
                        detail.path("pidsMax").asInt(),
                        number(detail.path("diskBytesMax")),
                        terminal(detail.path("tty")),
                        text(detail.path("trusted")),
                        named(detail.path("surrogates"))),
                new GuestInputs(
                        hash(detail.path("workspace").path("sha256")),
                        detail.path("workspace").path("bytes").asLong(),
                        hash(detail.path("entropy").path("sha256"))),
                recorder(detail.path(LeafDetail.RECORDER)),
                machine(detail.path("start")));
    }

    /// The summary of a leaf's detail, which may be of any form.
    static Summary summary(JsonNode detail) {
        JsonNode image = detail.path("image");
        return new Summary(
                detail.path("tier").textValue(),
                image.path("name").textValue(),
                image.path("digest").textValue());
    }

    private static @Nullable RecordedTier tier(JsonNode detail) {
        String label = text(detail.path("tier"));
        return label == null
                ? null
                : new RecordedTier(label, text(detail.path("tierAsked")), text(detail.path("tierReason")));
    }

    private static @Nullable Terminal terminal(JsonNode tty) {
        return tty.isObject()
                ? new Terminal(
                        tty.path("rows").asInt(),
                        tty.path("columns").asInt(),
                        tty.path("term").asText())
                : null;
    }

    private static @Nullable Image image(JsonNode image) {
        String name = text(image.path("name"));
        Hash digest = hash(image.path("digest"));
        return name == null || digest == null ? null : new Image(name, digest);
    }

    private static @Nullable Recorder recorder(JsonNode recorder) {
        String version = text(recorder.path("version"));
        String key = text(recorder.path("key"));
        String certificate = text(recorder.path(LeafDetail.CERTIFICATE));
        return version == null || key == null || certificate == null
                ? null
                : new Recorder(version, key, certificate, number(recorder.path("outputBytesMax")));
    }

    private static @Nullable Machine machine(JsonNode start) {
        String qemu = text(start.path("qemu"));
        Hash digest = hash(start.path("qemuSha256"));
        if (qemu == null || digest == null) {
            return null;
        }
        return new Machine(
                qemu,
                digest,
                start.path("accelerator").asText(),
                text(start.path("why")),
                text(start.path("confinement")),
                start.path("memoryMib").asInt(),
                start.path("vcpus").asInt(),
                text(start.path("from")),
                start.path("tookMs").asLong(),
                text(start.path("bootId")),
                text(start.path("kernel")),
                start.path("guestBootNs").asLong(),
                start.path("clockErrorNs").asLong(),
                texts(start.path("argv")));
    }

    private static @Nullable String text(JsonNode node) {
        return node.isTextual() && !node.textValue().isEmpty() ? node.textValue() : null;
    }

    private static @Nullable Long number(JsonNode node) {
        return node.isIntegralNumber() && node.canConvertToLong() ? (Long) node.longValue() : null;
    }

    private static @Nullable Hash hash(JsonNode node) {
        return node.isMissingNode() || node.isNull() ? null : Hash.ofHex(node.asText());
    }

    private static Map<String, String> named(JsonNode object) {
        var named = new TreeMap<String, String>();
        object.properties()
                .forEach(each -> named.put(each.getKey(), each.getValue().asText()));
        return named;
    }

    private static List<String> texts(JsonNode array) {
        var texts = new ArrayList<String>();
        array.forEach(each -> texts.add(each.asText()));
        return texts;
    }
}
