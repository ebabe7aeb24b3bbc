package blackbox.recorder.anchor;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.ConsistencyProof;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.witness.AddCheckpoint;
import blackbox.recorder.outbound.HttpPoster;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// Asks the witnesses of a trust policy to cosign a log's checkpoint, all at once (C2SP tlog-witness).
public final class Witnesses {

    private static final int ANSWER_OCTETS_MAX = 64 << 10;
    private static final int TRIES_MAX = 4;
    private static final String SIZE_TYPE = "text/x.tlog.size";
    private static final String SIZE = "(0|[1-9][0-9]{0,18})\n";

    private final HttpPoster client;
    private final TrustPolicy policy;
    private final Map<String, URI> addresses;

    /// @param addresses each witness's submission prefix, by its name in the policy
    public Witnesses(HttpPoster client, TrustPolicy policy, Map<String, URI> addresses) {
        this.client = client;
        this.policy = policy;
        this.addresses = Map.copyOf(addresses);
    }

    /// Makes consistency proofs of the log whose checkpoint is to be cosigned. Called by one thread at a
    /// time.
    @FunctionalInterface
    public interface Proofs {
        ConsistencyProof from(long oldSize) throws IOException;
    }

    /// The result of asking.
    ///
    /// @param note the checkpoint's note with every cosignature that verified, in the policy's order
    /// @param missing why a witness has not cosigned, by its name
    /// @param quorum whether those who have form a quorum
    public record Outcome(SignedNote note, Map<String, String> missing, boolean quorum) {

        public Outcome {
            missing = Map.copyOf(missing);
        }
    }

    /// One witness's answer: a cosignature, or why there is none.
    private record Answer(List<SignedNote.Signature> lines, String why) {

        static Answer none(String why) {
            return new Answer(List.of(), why);
        }
    }

    /// Asks all witnesses about the checkpoint in `note`.
    public Outcome cosign(SignedNote note, Proofs proofs) throws InterruptedException {
        Map<String, Future<Answer>> asked = new LinkedHashMap<>();
        Map<String, String> missing = new LinkedHashMap<>();
        SignedNote cosigned = note;
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            policy.witnesses().forEach((name, key) -> {
                URI address = addresses.get(name);
                if (address == null) {
                    missing.put(name, "the policy has no address for it");
                } else {
                    asked.put(name, clients.submit(() -> ask(address, key, note, proofs)));
                }
            });
            for (Map.Entry<String, Future<Answer>> each : asked.entrySet()) {
                Answer answer = each.getValue().get();
                for (SignedNote.Signature line : answer.lines()) {
                    cosigned = cosigned.with(line);
                }
                if (answer.lines().isEmpty()) {
                    missing.put(each.getKey(), answer.why());
                }
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException("a witness was asked with an invalid request", e);
        }
        return new Outcome(cosigned, missing, policy.judge(cosigned).quorum());
    }

    private Answer ask(URI prefix, NoteVerifier key, SignedNote note, Proofs proofs) throws InterruptedException {
        Checkpoint checkpoint = Checkpoint.parse(note.text());
        if (checkpoint == null) {
            throw new IllegalArgumentException("only a checkpoint can be cosigned");
        }
        URI address = URI.create(prefix.toString().replaceAll("/+$", "") + "/add-checkpoint");
        long oldSize = 0;
        try {
            for (int tries = 0; tries < TRIES_MAX; tries++) {
                HttpResponse<byte[]> answer = client.post(
                        address,
                        Map.of("Content-Type", "text/plain; charset=utf-8"),
                        request(note, proofs, oldSize),
                        HttpPoster.atMost(ANSWER_OCTETS_MAX));
                String body = new String(answer.body(), StandardCharsets.UTF_8);
                if (answer.statusCode() == 200) {
                    return cosignature(body, key, note);
                }
                if (answer.statusCode() != 409
                        || !HttpPoster.mediaType(answer).equals(SIZE_TYPE)
                        || !body.matches(SIZE)) {
                    return Answer.none("it answers with status " + answer.statusCode() + ": " + firstLine(body));
                }
                long known = Long.parseLong(body.strip());
                if (known > checkpoint.size()) {
                    return Answer.none(
                            "it knows the log with " + known + " leaves, which is more than " + checkpoint.size());
                }
                if (known == oldSize && tries > 0 || known == oldSize && known == checkpoint.size()) {
                    return Answer.none(
                            "it knows a different history of the log: a different root for " + known + " leaves");
                }
                oldSize = known;
            }
            return Answer.none("it names a different size each time it is asked");
        } catch (IOException | NumberFormatException e) {
            return Answer.none(address + ": " + e.getMessage());
        }
    }

    private static byte[] request(SignedNote note, Proofs proofs, long oldSize) throws IOException {
        synchronized (proofs) {
            return AddCheckpoint.of(proofs.from(oldSize), note).encoded();
        }
    }

    /// Takes the lines of this witness's key, each of which must verify, and ignores others.
    private static Answer cosignature(String body, NoteVerifier key, SignedNote note) {
        SignedNote answer = SignedNote.parse(note.text() + "\n" + body);
        if (answer == null) {
            return Answer.none("its answer is not a cosignature");
        }
        List<SignedNote.Signature> lines = answer.signatures().stream()
                .filter(line -> line.keyId() == key.keyId() && line.name().equals(key.name()))
                .toList();
        byte[] text = note.text().getBytes(StandardCharsets.UTF_8);
        if (lines.isEmpty()) {
            return Answer.none("its answer has no cosignature of the key that the policy names");
        }
        return lines.stream().allMatch(line -> key.verify(text, line.octets()))
                ? new Answer(lines, "")
                : Answer.none("its cosignature does not verify");
    }

    private static String firstLine(String body) {
        String line = body.lines().findFirst().orElse("");
        return line.substring(0, Math.min(line.length(), 200)).replaceAll("\\p{Cntrl}", "?");
    }
}
