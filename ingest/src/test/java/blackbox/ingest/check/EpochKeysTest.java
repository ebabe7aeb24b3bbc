package blackbox.ingest.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.log.NoteSigner;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.sign.Ed25519Verifier;
import blackbox.evidence.trust.RunKeyCertificate;
import blackbox.ingest.Traffic;
import blackbox.recorder.seal.EphemeralKeys;
import blackbox.recorder.seal.EpochKeys;
import blackbox.recorder.seal.RunSealer;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Runs that are sealed by epoch keys under a certificate of the trusted key.
final class EpochKeysTest {

    private static final Instant NOW = Instant.ofEpochSecond(1_790_000_000);
    private static final Ed25519Key LOG = Ed25519Key.create("blackbox/log/test", new SecureRandom());

    private final RunId run = RunId.create(NOW, new Random(7));
    private final BatchCheck check = check(RunStates.NONE);
    private final List<SealedBatch> batches = new ArrayList<>();

    private static BatchCheck check(RunStates states) {
        return new BatchCheck(() -> List.of(LOG.verifier(), Traffic.KEY.verifier()), Ownership.ALL, states);
    }

    private String certificate(RunId of, Ed25519Verifier first, NoteSigner signer) {
        return SignedNote.sign(new RunKeyCertificate(of, first, NOW).text(), signer);
    }

    private RunSealer sealer(EpochKeys keys, @Nullable String certificate) {
        var sealer = new RunSealer(run, keys, batches::add, InstantSource.fixed(NOW));
        var detail = new ObjectMapper().createObjectNode();
        detail.putObject("recorder").put("certificate", certificate);
        String json = certificate == null ? "{}" : detail.toString();
        sealer.append(new Event.RunOpen(EventHeader.host(1), null, json));
        return sealer;
    }

    private RunSealer sealer() {
        var keys = new EphemeralKeys(run, new SecureRandom());
        return sealer(keys, certificate(run, keys.first(), LOG));
    }

    private CheckResult check(SealedBatch batch) throws Exception {
        return check.check(run.value(), batch.octets());
    }

    private CheckResult.Accepted accept(SealedBatch batch) throws Exception {
        return assertInstanceOf(CheckResult.Accepted.class, check(batch));
    }

    private void refuse(Reason reason, SealedBatch batch) throws Exception {
        CheckResult.Refused refused = assertInstanceOf(CheckResult.Refused.class, check(batch));
        assertEquals(reason, refused.reason(), refused.what());
        if (!reason.stops()) {
            assertNull(refused.after(), "what could be anyone's stops no run");
        } else {
            assertNotNull(refused.after());
        }
    }

    @Test
    void eachBatchIsBelievedByTheKeyBeforeItAlsoAfterARestart() throws Exception {
        RunSealer sealer = sealer();
        for (int i = 0; i < 5; i++) {
            sealer.seal();
        }
        sealer.append(new Event.RunClose(EventHeader.host(2), sealer.size(), 0, 0, null, null));
        sealer.seal();
        BatchCheck going = check;
        for (SealedBatch batch : batches) {
            CheckResult.Accepted accepted =
                    assertInstanceOf(CheckResult.Accepted.class, going.check(run.value(), batch.octets()));
            assertEquals(batch.sequence() == 5, accepted.closes());
            ChainState committed = ChainState.parse(accepted.after().text());
            assertEquals(accepted.after(), committed);
            going = check(_ -> new RunStates.Open(committed));
            assertInstanceOf(CheckResult.Known.class, going.check(run.value(), batch.octets()));
        }
    }

    @Test
    void aKeyThatWasRotatedInMeanwhileIsBelievedForTheRunsThatBeginThen() throws Exception {
        Ed25519Key next = Ed25519Key.create("blackbox/log/test", new SecureRandom());
        List<NoteVerifier> trusted = new ArrayList<>(List.of(LOG.verifier()));
        var going = new BatchCheck(() -> trusted, Ownership.ALL, RunStates.NONE);
        var keys = new EphemeralKeys(run, new SecureRandom());
        sealer(keys, certificate(run, keys.first(), next)).seal();
        byte[] first = batches.getFirst().octets();
        assertInstanceOf(CheckResult.Refused.class, going.check(run.value(), first));
        trusted.add(next.verifier());
        assertInstanceOf(CheckResult.Accepted.class, going.check(run.value(), first));
    }

    /// Its later runs would otherwise be passed over as another host's, and nobody would hear of it.
    @Test
    void aGroupSaysThatATrustedLogHasAKeyItDoesNotKnow() throws Exception {
        var group = new BatchCheck(() -> List.of(LOG.verifier()), Ownership.TRUSTED, RunStates.NONE);
        var keys = new EphemeralKeys(run, new SecureRandom());
        Ed25519Key next = Ed25519Key.create(LOG.verifier().name(), new SecureRandom());
        sealer(keys, certificate(run, keys.first(), next)).seal();
        CheckResult.Refused refused = assertInstanceOf(
                CheckResult.Refused.class,
                group.check(run.value(), batches.getFirst().octets()));
        assertEquals(Reason.SIGNATURE, refused.reason());
        assertTrue(refused.what().contains("an unknown key of " + LOG.verifier().name()), refused.what());
        batches.clear();
        keys = new EphemeralKeys(run, new SecureRandom());
        Ed25519Key stranger = Ed25519Key.create("blackbox/log/other", new SecureRandom());
        sealer(keys, certificate(run, keys.first(), stranger)).seal();
        assertInstanceOf(
                CheckResult.Foreign.class,
                group.check(run.value(), batches.getFirst().octets()));
    }

    @Test
    void theLongTermKeyCannotSealInAnEpochKeysPlace() throws Exception {
        var keys = new EphemeralKeys(run, new SecureRandom());
        String certificate = certificate(run, keys.first(), LOG);
        sealer(EpochKeys.always(LOG), certificate).seal();
        refuse(Reason.SIGNATURE, batches.getFirst());
        batches.clear();
        sealer(keys, certificate).seal();
        accept(batches.getFirst());
        batches.clear();
        RunSealer direct = sealer(EpochKeys.always(LOG), certificate);
        direct.seal();
        direct.seal();
        refuse(Reason.SIGNATURE, batches.get(1));
    }

    @Test
    void withoutATrustedCertificateNoEpochKeyIsBelieved() throws Exception {
        var stranger = Ed25519Key.create("blackbox/log/test", new SecureRandom());
        var other = RunId.create(NOW, new Random(8));
        var keys = new EphemeralKeys(run, new SecureRandom());
        var foreign = new EphemeralKeys(other, new SecureRandom());
        for (String certificate : new String[] {
            certificate(run, keys.first(), stranger), certificate(other, foreign.first(), LOG), "nothing", ""
        }) {
            batches.clear();
            sealer(keys, certificate).seal();
            refuse(Reason.SIGNATURE, batches.getFirst());
            keys = new EphemeralKeys(run, new SecureRandom());
        }
        batches.clear();
        sealer(keys, null).seal();
        refuse(Reason.SIGNATURE, batches.getFirst());
        batches.clear();
        sealer(EpochKeys.always(LOG), "nothing").seal();
        refuse(Reason.SIGNATURE, batches.getFirst());
    }

    @Test
    void whatCannotBeCheckedYetStopsNothing() throws Exception {
        RunSealer sealer = sealer();
        for (int i = 0; i < 4; i++) {
            sealer.seal();
        }
        refuse(Reason.UNREACHED, batches.get(1));
        accept(batches.get(0));
        refuse(Reason.UNREACHED, batches.get(2));
        accept(batches.get(1));
        accept(batches.get(2));
    }

    @Test
    void anotherHistoryOfTheSameRunIsRefused() throws Exception {
        sealer().seal();
        accept(batches.getFirst());
        RunSealer second = sealer();
        second.append(new Event.VmLifecycle(EventHeader.host(3), "STOP", null));
        second.seal();
        second.seal();
        refuse(Reason.SIGNATURE, batches.get(1));
        refuse(Reason.SIGNATURE, batches.get(2));
    }

    @Test
    void aHeartbeatThatNamesNoKeyStopsTheRun() throws Exception {
        var keys = new EphemeralKeys(run, new SecureRandom());
        EpochKeys silent = new EpochKeys() {
            @Override
            public @Nullable String announce(boolean closes) {
                return null;
            }

            @Override
            public String seal(String checkpoint) {
                return keys.seal(checkpoint);
            }

            @Override
            public void close() {
                keys.close();
            }
        };
        sealer(silent, certificate(run, keys.first(), LOG)).seal();
        refuse(Reason.HEARTBEAT, batches.getFirst());
    }

    @Test
    void aStateOfTheVersionBeforeIsOfARunWithDirectKeys() throws Exception {
        var traffic = new Traffic(new Random(1));
        traffic.batch(3);
        var before = assertInstanceOf(
                CheckResult.Accepted.class,
                check.check(traffic.run().value(), traffic.batches().getFirst().octets()));
        String version1 = before.after().text().replaceFirst(" direct$", "");
        assertEquals(before.after(), ChainState.parse(version1));
    }
}
