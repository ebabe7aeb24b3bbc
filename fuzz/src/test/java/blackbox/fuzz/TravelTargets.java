package blackbox.fuzz;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.query.run.RunOpening;
import blackbox.replay.verdict.Refusal;
import blackbox.replay.verdict.Verdict;
import blackbox.replay.verdict.VerdictJson;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.Sha256;
import blackbox.vault.age.AgeException;
import blackbox.vault.age.AgeIdentity;
import blackbox.vault.age.AgeInput;
import blackbox.vault.age.AgeOutput;
import blackbox.vault.parcel.MalformedParcelException;
import blackbox.vault.parcel.ParcelManifest;
import blackbox.vault.parcel.ParcelPart;
import blackbox.vault.parcel.ParcelReader;
import blackbox.vault.parcel.ParcelWriter;
import blackbox.vm.Json;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Files that were made elsewhere: parcels, encrypted files, verdicts.
final class TravelTargets {
    private static final RunId RUN = new RunId("01kaj3v4e00000000000000001");
    /// What is unpacked of one part.
    private static final int PART_BYTES_MAX = 4 << 20;
    /// Beginning with the same octets in each process, so that a corpus is of use to the next one.
    private static final AgeIdentity IDENTITY =
            AgeIdentity.parse("AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX");

    private TravelTargets() {}

    static List<FuzzTarget> all() {
        return List.of(
                FuzzTarget.of(
                        "parcel",
                        8 << 10,
                        TravelTargets::parcel,
                        TravelTargets::parcels,
                        MalformedParcelException.class),
                FuzzTarget.of("age", 4 << 10, TravelTargets::age, TravelTargets::encrypted, AgeException.class),
                FuzzTarget.of("verdict", 4 << 10, TravelTargets::verdict, TravelTargets::verdicts),
                FuzzTarget.of(
                        "run-opening",
                        4 << 10,
                        TravelTargets::opening,
                        TravelTargets::openings,
                        JsonProcessingException.class,
                        IllegalArgumentException.class));
    }

    /// A parcel without its digest, which anyone can make.
    private static boolean parcel(byte[] octets) throws IOException {
        byte[] digest = Sha256.digest().digest(octets);
        byte[] whole = Arrays.copyOf(octets, octets.length + digest.length);
        System.arraycopy(digest, 0, whole, octets.length, digest.length);
        return unpack(whole);
    }

    private static boolean unpack(byte[] octets) throws IOException {
        try (var reader = new ParcelReader(new ByteArrayInputStream(octets))) {
            ensure(reader.manifest().bytes() >= 0, "the sum of its parts wraps");
            for (ParcelPart part : reader.manifest().parts()) {
                ensure(!part.name().startsWith("/") && !("/" + part.name() + "/").contains("/../"), "a name leads out");
                if (part.bytes() > PART_BYTES_MAX) {
                    return false;
                }
                try (InputStream in = reader.next()) {
                    ensure(in.readAllBytes().length == part.bytes(), "a part has another length than is declared");
                }
            }
            reader.end();
        }
        return true;
    }

    private static Map<String, byte[]> parcels() throws IOException {
        byte[] content = "content\n".repeat(20).getBytes(StandardCharsets.US_ASCII);
        var parts = List.of(
                ParcelPart.file("run/events", content.length),
                new ParcelPart("run/program", 3, true, null),
                new ParcelPart("run/deep/link", 0, false, "../events"),
                ParcelPart.file("empty", 0));
        var out = new ByteArrayOutputStream();
        try (var writer = new ParcelWriter(out, new ParcelManifest(RUN, parts), 0)) {
            for (ParcelPart part : parts) {
                long unused = writer.put(new ByteArrayInputStream(content, 0, (int) part.bytes()));
            }
            writer.finish();
        }
        return Map.of("four-parts", Arrays.copyOf(out.toByteArray(), out.size() - Hash.LENGTH));
    }

    private static boolean age(byte[] octets) throws IOException {
        try (var in = new AgeInput(new ByteArrayInputStream(octets), IDENTITY)) {
            ensure(in.readAllBytes().length < octets.length, "a file is longer than it was encrypted");
        }
        return true;
    }

    private static Map<String, byte[]> encrypted() throws IOException {
        var out = new ByteArrayOutputStream();
        var age = new AgeOutput(out, List.of(IDENTITY.recipient()), new SecureRandom());
        age.write("plaintext".getBytes(StandardCharsets.US_ASCII));
        age.finish();
        return Map.of("one-recipient", out.toByteArray());
    }

    private static boolean verdict(byte[] octets) {
        @Nullable Verdict verdict = VerdictJson.decode(octets);
        ensure(
                verdict == null || Arrays.equals(VerdictJson.encode(verdict), octets),
                "a verdict encodes to something else");
        return verdict != null;
    }

    private static Map<String, byte[]> verdicts() {
        Instant at = Instant.parse("2026-11-22T00:00:00Z");
        return Map.of(
                "failed",
                VerdictJson.encode(Verdict.failed(RUN, at, ReplayMethod.EXACT, "why")),
                "refused",
                VerdictJson.encode(Verdict.refused(RUN, at, ReplayMethod.RERUN, List.<Refusal>of())));
    }

    /// The detail of a run's first leaf, which decides what a replay is started from.
    private static boolean opening(byte[] octets) throws JsonProcessingException {
        RunOpening opening = RunOpening.of(Json.parse(new String(octets, StandardCharsets.UTF_8)));
        RunOpening again = RunOpening.of(Json.parse(opening.toJson()));
        ensure(again.toJson().equals(opening.toJson()), "an opening says something else after it was written");
        return true;
    }

    private static Map<String, byte[]> openings() {
        String digest = "ab".repeat(32);
        return Map.of(
                "whole",
                ("{\"tier\":\"exact\",\"tierAsked\":\"auto\",\"tierReason\":\"TCG\",\"image\":{\"name\":\"base\","
                                + "\"digest\":\"" + digest + "\"},\"snapshot\":\"" + digest
                                + "\",\"command\":[\"true\"],"
                                + "\"environment\":[\"A\"],\"user\":\"agent\",\"network\":\"user\",\"pidsMax\":9,"
                                + "\"diskBytesMax\":5,\"tty\":{\"rows\":24,\"columns\":80,\"term\":\"xterm\"},"
                                + "\"workspace\":{\"sha256\":\"" + digest + "\",\"bytes\":7},\"entropy\":{\"sha256\":\""
                                + digest + "\"},\"recorder\":{\"version\":\"1\",\"key\":\"k\",\"certificate\":\"c\","
                                + "\"outputBytesMax\":3},\"start\":{\"qemu\":\"10\",\"qemuSha256\":\"" + digest
                                + "\",\"accelerator\":\"tcg\",\"memoryMib\":512,\"vcpus\":1,\"argv\":[\"q\"]}}")
                        .getBytes(StandardCharsets.UTF_8));
    }
}
