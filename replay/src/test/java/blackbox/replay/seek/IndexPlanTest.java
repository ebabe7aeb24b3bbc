package blackbox.replay.seek;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.seek.IndexPlan.Known;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class IndexPlanTest {
    private static final long FIRST = 5_000;
    private static final Known NOTHING = new Known(null, new TreeSet<>());

    private static Known known(Long... saved) {
        return new Known(FIRST, new TreeSet<>(List.of(saved)));
    }

    /// What a pass up to `goal` saves, as [IndexPass] goes on.
    private static TreeSet<Long> pass(IndexPlan plan, Known known, long goal) {
        var saved = new TreeSet<Long>(known.saved());
        long position = Math.max(known.frontier(), FIRST);
        while (plan.isDue(position, goal - IndexPlan.MARGIN)) {
            position = plan.next(position);
            saved.add(position);
        }
        return saved;
    }

    @Test
    void aPassStopsBeforeItsMoment() {
        var random = new Random(7);
        for (int i = 0; i < 1_000; i++) {
            var plan = new IndexPlan(random.nextLong(1_000_000, 5_000_000_000_000L));
            long goal = random.nextLong(FIRST, plan.end());
            var saved = pass(plan, NOTHING, goal);
            assertTrue(saved.isEmpty() || saved.last() < goal - IndexPlan.MARGIN, plan + ", goal " + goal);
            assertFalse(plan.isLeft(new Known(FIRST, saved), goal), plan + ", goal " + goal);
            assertTrue(saved.size() <= 800, plan + ", goal " + goal);
        }
    }

    /// Wherever the passes before were broken off, the index ends up as if one had gone through.
    @Test
    void aPassResumesWhereTheOneBeforeItEnded() {
        var random = new Random(11);
        for (int i = 0; i < 200; i++) {
            var plan = new IndexPlan(random.nextLong(1_000_000_000L, 500_000_000_000L));
            var whole = pass(plan, NOTHING, plan.end());
            Known known = NOTHING;
            for (int seek = 0; seek < 5; seek++) {
                long goal = random.nextLong(FIRST, plan.end());
                boolean left = plan.isLeft(known, goal);
                var saved = pass(plan, known, goal);
                assertTrue(saved.containsAll(known.saved()));
                assertTrue(left || saved.size() == known.saved().size(), plan + ", goal " + goal);
                var broken = new TreeSet<Long>(
                        saved.stream().limit(random.nextInt(saved.size() + 1)).toList());
                broken.addAll(known.saved());
                known = new Known(FIRST, broken);
            }
            assertEquals(whole, pass(plan, known, plan.end()), plan::toString);
        }
    }

    @Test
    void whatLiesBehindTheIndexNeedsNoPass() {
        var plan = new IndexPlan(100_000_000_000L);
        long frontier = plan.next(plan.next(FIRST));
        Known known = known(plan.next(FIRST), frontier);
        assertFalse(plan.isLeft(known, FIRST));
        assertFalse(plan.isLeft(known, frontier));
        assertFalse(plan.isLeft(known, plan.next(frontier)), "no checkpoint is due before it");
        assertTrue(plan.isLeft(known, plan.next(frontier) + 2 * IndexPlan.MARGIN));
        assertFalse(plan.isLeft(known, null), "no pass reaches what comes before the first frame");
    }

    @Test
    void checkpointsWithoutTheFrameBeforeThemAreNoBeginning() {
        var plan = new IndexPlan(100_000_000_000L);
        assertTrue(plan.isLeft(NOTHING, FIRST));
        assertTrue(plan.isLeft(new Known(null, new TreeSet<>(List.of(9_000L))), null));
        var late = new Known(50_000L, new TreeSet<>(List.of(9_000L)));
        assertTrue(plan.isLeft(late, 60_000L));
        assertEquals(0, late.frontier());
    }

    @Test
    void aPassSavesNoMoreOftenThanIsUseful() {
        assertEquals(20_000_000, new IndexPlan(1_000).next(0));
        assertEquals(20_000_000, new IndexPlan(200_000_000).next(0));
        assertEquals(100_000_000, new IndexPlan(20_000_000_000L).next(0));
        assertEquals(1_000_000_000, new IndexPlan(800_000_000_000L).next(0));
    }
}
