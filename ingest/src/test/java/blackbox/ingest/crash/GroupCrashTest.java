package blackbox.ingest.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Three processes ingest into one table as a group, while they are killed (`kill -9`), stopped until
/// others have taken over and then let go on (zombies), or leave and come back, at seeded random moments:
/// whatever was acknowledged as recorded is in the table exactly once, and every run verifies.
/// `-Dblackbox.seed=` repeats a run, `-Dblackbox.turns=` sets how many of these there are.
final class GroupCrashTest {

    private static final long SEED = Long.getLong("blackbox.seed", System.nanoTime());
    private static final int TURNS = Integer.getInteger("blackbox.turns", 3);
    private static final int MEMBERS = 3;

    @TempDir
    Path data;

    private CrashRig rig;
    private CrashRig.Subject broker;
    private CrashRig.Subject recorder;
    private final List<CrashRig.Subject> members = new ArrayList<>();

    @BeforeEach
    void startAll() throws Exception {
        System.out.println("GroupCrashTest: -Dblackbox.seed=" + SEED + ", " + TURNS + " turns");
        rig = new CrashRig(data, SEED);
        broker = rig.start("broker");
        broker.awaitReady();
        for (int i = 0; i < MEMBERS; i++) {
            members.add(rig.start("member"));
        }
        members.getFirst().awaitReady();
        recorder = rig.start("recorder");
        recorder.awaitReady();
    }

    @AfterEach
    void killAll() throws InterruptedException {
        for (CrashRig.Subject member : members) {
            member.kill();
        }
        recorder.kill();
        broker.kill();
    }

    @Test
    void whatWasAcknowledgedIsThereExactlyOnce() throws Exception {
        for (int turn = 0; turn < TURNS; turn++) {
            pauseUpTo(1_500);
            int victim = rig.random().nextInt(MEMBERS);
            switch (turn % 3) {
                case 0 -> kill(victim);
                case 1 -> members.get(victim).makeZombie();
                default -> leaveAndComeBack(victim);
            }
        }
        recorder.kill();
        drain();
        rig.assertTable();
    }

    private void pauseUpTo(int ms) throws InterruptedException {
        recorder.process.waitFor(rig.random().nextInt(ms), TimeUnit.MILLISECONDS);
        assertTrue(recorder.process.isAlive(), () -> rig.errors("recorder"));
    }

    private void kill(int victim) throws Exception {
        members.get(victim).kill();
        members.set(victim, rig.start("member"));
    }

    private void leaveAndComeBack(int victim) throws Exception {
        members.get(victim).end();
        members.set(victim, rig.start("member"));
    }

    private void drain() throws Exception {
        var drain = rig.start("drain");
        assertTrue(drain.process.waitFor(CrashRig.PATIENCE.toMillis(), TimeUnit.MILLISECONDS));
        assertEquals(0, drain.process.exitValue(), () -> rig.errors("drain"));
        long deadline = System.nanoTime() + CrashRig.PATIENCE.toNanos();
        while (!rig.isThere() && System.nanoTime() < deadline) {
            broker.process.waitFor(200, TimeUnit.MILLISECONDS);
        }
        for (CrashRig.Subject member : members) {
            member.end();
        }
        System.out.println(rig.errors("member")
                .lines()
                .filter(line -> line.startsWith("IngestStatus"))
                .toList());
    }
}
