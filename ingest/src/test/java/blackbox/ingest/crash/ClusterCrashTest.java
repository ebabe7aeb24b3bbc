package blackbox.ingest.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.ingest.kafka.ClusterNode;
import blackbox.ingest.kafka.ClusterNode.Layout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Two recorders, a cluster of three brokers and three processes that ingest into one table, each of them killed
/// (`kill -9`) at seeded random moments and started again, or stopped until
/// others have taken over and then let go on (zombies): whatever was acknowledged as recorded is in the table exactly
/// once, every run verifies,
/// and nothing hangs. `-Dblackbox.seed=` repeats a run, `-Dblackbox.turns=` sets how many of these there are.
final class ClusterCrashTest {

    private static final long SEED = Long.getLong("blackbox.seed", System.nanoTime());
    private static final int TURNS = Integer.getInteger("blackbox.turns", 3);
    private static final int BROKERS = 3;
    private static final int MEMBERS = 3;
    private static final int RECORDERS = 2;

    @TempDir
    Path data;

    private final long began = System.nanoTime();
    private CrashRig rig;
    private final List<CrashRig.Subject> nodes = new ArrayList<>();
    private final List<CrashRig.Subject> members = new ArrayList<>();
    private final List<CrashRig.Subject> recorders = new ArrayList<>();

    @BeforeEach
    void startAll() throws Exception {
        System.out.println("ClusterCrashTest: -Dblackbox.seed=" + SEED + ", " + TURNS + " turns");
        rig = new CrashRig(data, SEED, RECORDERS, BROKERS);
        for (int id = 1; id <= BROKERS; id++) {
            nodes.add(rig.start("node", id));
        }
        for (CrashRig.Subject node : nodes) {
            node.awaitReady();
        }
        for (int i = 0; i < MEMBERS; i++) {
            members.add(rig.start("member"));
        }
        for (int i = 0; i < RECORDERS; i++) {
            recorders.add(rig.start("recorder", i));
        }
        members.getFirst().awaitReady();
        for (CrashRig.Subject recorder : recorders) {
            recorder.awaitReady();
        }
        say("all are at work");
    }

    @AfterEach
    void killAll() throws InterruptedException {
        for (CrashRig.Subject subject : all().toList()) {
            subject.kill();
        }
    }

    private Stream<CrashRig.Subject> all() {
        return Stream.of(recorders, members, nodes).flatMap(List::stream);
    }

    @Test
    void whatWasAcknowledgedIsThereExactlyOnce() throws Exception {
        Layout layout = ClusterNode.layout(rig.servers());
        assertEquals(Set.of(BROKERS), new HashSet<>(layout.replicas()), "the cluster decides on how many brokers");
        assertEquals(2, layout.inSyncMin());
        for (int turn = 0; turn < TURNS; turn++) {
            letThemWork();
            say("turn " + turn + ": " + turn(turn) + "; runs so far " + rig.runs());
        }
        for (CrashRig.Subject recorder : recorders) {
            recorder.kill();
        }
        drain();
        say("drained");
        rig.assertTable();
    }

    private void say(String what) {
        System.out.println(Duration.ofNanos(System.nanoTime() - began).toSeconds() + " s: " + what);
    }

    /// Mostly until each recorder has brought a run to the brokers; sometimes the next turn comes into the middle of
    /// what the last one caused.
    private void letThemWork() throws InterruptedException {
        boolean untilAllGoOn = rig.random().nextInt(3) != 0;
        List<Integer> before = rig.runs();
        long deadline = System.nanoTime() + CrashRig.PATIENCE.toNanos();
        while (untilAllGoOn && !areBeyond(before)) {
            assertTrue(System.nanoTime() < deadline, () -> "recorders do not go on: " + before + ", seed " + SEED);
            pause(50);
        }
        pause(rig.random().nextInt(1_500));
    }

    private boolean areBeyond(List<Integer> before) {
        List<Integer> now = rig.runs();
        return IntStream.range(0, RECORDERS).allMatch(i -> now.get(i) > before.get(i) + 1);
    }

    private void pause(int ms) throws InterruptedException {
        nodes.getFirst().process.waitFor(ms, TimeUnit.MILLISECONDS);
        all().forEach(CrashRig.Subject::assertAlive);
    }

    /// A broker, a member and a recorder, one after the other.
    ///
    /// @return what was done
    private String turn(int turn) throws Exception {
        boolean zombie = rig.random().nextInt(3) == 0;
        return switch (turn % 3) {
            case 0 -> {
                int node = rig.random().nextBoolean() ? rig.random().nextInt(BROKERS) : leading();
                yield zombie ? makeZombie("node", nodes, node) : kill("node", nodes, node, node + 1);
            }
            case 1 -> {
                int member = rig.random().nextInt(MEMBERS);
                yield zombie ? makeZombie("member", members, member) : kill("member", members, member, 0);
            }
            default -> {
                int recorder = rig.random().nextInt(RECORDERS);
                yield kill("recorder", recorders, recorder, recorder);
            }
        };
    }

    private String kill(String role, List<CrashRig.Subject> all, int victim, int number) throws Exception {
        all.get(victim).kill();
        all.set(victim, rig.start(role, number));
        return "killed " + role + " " + victim;
    }

    private static String makeZombie(String role, List<CrashRig.Subject> all, int victim) throws Exception {
        all.get(victim).makeZombie();
        return "stopped " + role + " " + victim + " for a while";
    }

    /// The broker that leads a partition, or any if there is none at the moment.
    private int leading() throws InterruptedException {
        int partition = rig.random().nextInt(64);
        try {
            List<Integer> leaders = ClusterNode.layout(rig.servers()).leaders();
            return Math.max(0, leaders.get(partition % leaders.size()) - 1);
        } catch (ExecutionException e) {
            return partition % BROKERS;
        }
    }

    private void drain() throws Exception {
        for (int i = 0; i < RECORDERS; i++) {
            rig.start("drain", i).end();
        }
        long deadline = System.nanoTime() + CrashRig.PATIENCE.toNanos();
        while (!rig.isThere() && System.nanoTime() < deadline) {
            nodes.getFirst().process.waitFor(200, TimeUnit.MILLISECONDS);
        }
        assertTrue(rig.isThere(), () -> "not all is in the table, seed " + SEED + ": " + rig.errors("member"));
        for (CrashRig.Subject member : members) {
            member.end();
        }
        System.out.println(rig.errors("member")
                .lines()
                .filter(line -> line.startsWith("IngestStatus"))
                .toList());
    }
}
