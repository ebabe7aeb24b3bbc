package blackbox.ingest.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `kill -9` of recorder, broker and ingest at seeded random moments: whatever was acknowledged as recorded is
/// in the table exactly once, and every run verifies. `-Dblackbox.seed=` repeats a run, `-Dblackbox.kills=`
/// sets how many.
final class CrashTest {

    private static final long SEED = Long.getLong("blackbox.seed", System.nanoTime());
    private static final int KILLS = Integer.getInteger("blackbox.kills", 20);
    private static final long PATIENCE_MS = CrashRig.PATIENCE.toMillis();

    @TempDir
    Path data;

    private CrashRig rig;
    private CrashRig.Subject host;
    private CrashRig.Subject recorder;

    @BeforeEach
    void startBoth() throws IOException {
        System.out.println("CrashTest: -Dblackbox.seed=" + SEED + ", " + KILLS + " kills");
        rig = new CrashRig(data, SEED);
        host = rig.start("host");
        recorder = rig.start("recorder");
    }

    @AfterEach
    void killBoth() throws InterruptedException {
        host.kill();
        recorder.kill();
    }

    @Test
    void whatWasAcknowledgedIsThereExactlyOnce() throws Exception {
        for (int kill = 0; kill < KILLS; kill++) {
            killOne();
        }
        recorder.kill();
        drain();
        rig.assertTable();
    }

    /// Mostly lets both get to work first; sometimes kills in the middle of starting or recovering.
    private void killOne() throws Exception {
        if (rig.random().nextInt(3) != 0) {
            host.ready.await(PATIENCE_MS, TimeUnit.MILLISECONDS);
            recorder.ready.await(PATIENCE_MS, TimeUnit.MILLISECONDS);
        }
        CrashRig.Subject victim = rig.random().nextInt(5) < 3 ? host : recorder;
        victim.process.waitFor(rig.random().nextInt(1_500), TimeUnit.MILLISECONDS);
        victim.kill();
        if (victim == host) {
            host = rig.start("host");
        } else {
            recorder = rig.start("recorder");
        }
        if (!recorder.process.isAlive()) {
            recorder = rig.start("recorder");
        }
        if (!host.process.isAlive()) {
            host = rig.start("host");
        }
    }

    private void drain() throws Exception {
        if (!host.process.isAlive()) {
            host = rig.start("host");
        }
        assertTrue(host.ready.await(PATIENCE_MS, TimeUnit.MILLISECONDS));
        var drain = rig.start("drain");
        assertTrue(drain.process.waitFor(PATIENCE_MS, TimeUnit.MILLISECONDS));
        assertEquals(0, drain.process.exitValue(), () -> rig.errors("drain"));
        long deadline = System.nanoTime() + CrashRig.PATIENCE.toNanos();
        while (!rig.isThere() && System.nanoTime() < deadline) {
            assertFalse(host.process.waitFor(200, TimeUnit.MILLISECONDS), () -> rig.errors("host"));
        }
        host.process.outputWriter().close();
        assertTrue(host.process.waitFor(PATIENCE_MS, TimeUnit.MILLISECONDS));
    }
}
