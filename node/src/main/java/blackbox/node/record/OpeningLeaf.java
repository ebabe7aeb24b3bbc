package blackbox.node.record;

import blackbox.evidence.log.NoteVerifier;
import blackbox.schemas.Hash;
import blackbox.schemas.Release;
import blackbox.vm.machine.StartFacts;
import blackbox.vm.machine.TierChoice;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Locale;

/// The JSON of a run's first leaf: everything that a later reader needs to know of what was started; see
/// `schemas/events.md`.
final class OpeningLeaf {

    private static final ObjectMapper JSON = new ObjectMapper();

    private OpeningLeaf() {}

    /// @param tier what was asked for and what came of it
    /// @param entropy digest of what the guest's random generator is given
    /// @param key the long-term key that certifies the run
    /// @param certificate the run key certificate, a signed note
    static String json(
            RecordRequest request,
            TierChoice tier,
            StartFacts facts,
            Hash entropy,
            NoteVerifier key,
            String certificate) {
        ObjectNode leaf = JSON.createObjectNode().put("tier", facts.tier().label());
        leaf.put("tierAsked", tier.asked().label()).put("tierReason", tier.reason());
        leaf.putObject("image")
                .put("name", facts.imageName())
                .put("digest", facts.imageDigest().toString());
        Hash snapshot = facts.snapshotDigest();
        leaf.put("snapshot", snapshot == null ? null : snapshot.toString());
        SealedCommand.put(leaf, request.command());
        var names = leaf.putArray("environment");
        request.environment().keySet().stream().sorted().forEach(names::add);
        leaf.put("user", request.user()).put("network", request.network().name().toLowerCase(Locale.ROOT));
        leaf.putObject("workspace")
                .put("sha256", facts.workspace().sha256().toString())
                .put("bytes", facts.workspace().bytes());
        leaf.putObject("entropy").put("sha256", entropy.toString());
        leaf.putObject("recorder")
                .put("version", Release.VERSION)
                .put("key", key.encoded())
                .put("certificate", certificate);
        start(leaf.putObject("start"), facts);
        return leaf.toString();
    }

    private static void start(ObjectNode start, StartFacts facts) {
        start.put("qemu", facts.qemuVersion())
                .put("qemuSha256", facts.qemuSha256().toString());
        start.put("accelerator", facts.accelerator().kind().name())
                .put("why", facts.accelerator().reason());
        start.put("memoryMib", facts.memoryMib()).put("vcpus", facts.vcpus());
        start.put("from", facts.start().name().toLowerCase(Locale.ROOT))
                .put("tookMs", facts.took().toMillis());
        start.put("bootId", facts.ready().bootId()).put("kernel", facts.ready().kernel());
        start.put("guestBootNs", facts.clock().guestBootNanos())
                .put("clockErrorNs", facts.clock().roundTripNanos() / 2);
        var argv = start.putArray("argv");
        facts.argv().forEach(argv::add);
    }
}
