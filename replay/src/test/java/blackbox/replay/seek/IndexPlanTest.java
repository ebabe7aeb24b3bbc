package blackbox.replay.seek;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.seek.IndexPlan.Density;
import blackbox.replay.seek.IndexPlan.Known;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class IndexPlanTest {
    private static final long FIRST = 5_000;
    private static final Known NOTHING = new Known(null, new TreeSet<>());

    private static Known known(Long... saved) {
        return new Known(FIRST, new TreeSet<>(List.of(saved)));
    }

    private static IndexPlan sparse(long end) {
        return new IndexPlan(end, Density.SPARSE);
    }

    private static IndexPlan dense(long end) {
        return new IndexPlan(end, Density.DENSE);
    }

    /// What a pass up to `goal` saves, as [IndexPass] goes on.
    private static TreeSet<Long> pass(IndexPlan plan, Known known, long goal) {
        Long nearest = known.saved().floor(goal - IndexPlan.MARGIN);
        return pass(plan, known.saved(), nearest == null ? FIRST : nearest, goal - IndexPlan.MARGIN);
    }

    private static TreeSet<Long> pass(IndexPlan plan, Set<Long> before, long from, long goal) {
        var saved = new TreeSet<Long>(before);
        for (long position = from; plan.isDue(position, goal); position = plan.next(position)) {
            saved.add(plan.next(position));
        }
        return saved;
    }

    @Test
    void aPassStopsBeforeItsMoment() {
        var random = new Random(7);
        for (int i = 0; i < 1_000; i++) {
            IndexPlan plan = sparse(random.nextLong(1_000_000, 5_000_000_000_000L));
            long goal = random.nextLong(FIRST, plan.end());
            var saved = pass(plan, NOTHING, goal);
            assertTrue(saved.isEmpty() || saved.last() < goal - IndexPlan.MARGIN, plan + ", goal " + goal);
            assertFalse(plan.isLeft(new Known(FIRST, saved), goal), plan + ", goal " + goal);
            assertTrue(saved.size() <= 800, plan + ", goal " + goal);
        }
    }

    /// Wherever the passes before were broken off, none saves again what is saved, and each moment is near a
    /// checkpoint afterwards.
    @Test
    void aPassResumesFromTheNearestCheckpoint() {
        var random = new Random(11);
        for (int i = 0; i < 200; i++) {
            IndexPlan plan = sparse(random.nextLong(1_000_000_000L, 500_000_000_000L));
            Known known = NOTHING;
            for (int seek = 0; seek < 5; seek++) {
                long goal = random.nextLong(FIRST, plan.end());
                boolean left = plan.isLeft(known, goal);
                var saved = pass(plan, known, goal);
                boolean saves = saved.size() > known.saved().size();
                assertTrue(saves || !left || !known.hasBegun(), plan + ", goal " + goal);
                assertTrue(left || saved.size() <= known.saved().size() + 1, plan + ", goal " + goal);
                assertFalse(plan.isLeft(new Known(FIRST, saved), goal), plan + ", goal " + goal);
                var broken = new TreeSet<Long>(
                        saved.stream().limit(random.nextInt(saved.size() + 1)).toList());
                broken.addAll(known.saved());
                known = new Known(FIRST, broken);
            }
        }
    }

    /// What landings left between their checkpoints is filled, however often the pass that does it is broken off.
    @Test
    void aPassOverTheWholeFillsWhatLandingsLeft() {
        var random = new Random(13);
        for (int i = 0; i < 100; i++) {
            long end = random.nextLong(20_000_000_000L, 500_000_000_000L);
            IndexPlan plan = dense(end);
            var saved = pass(sparse(end), NOTHING, random.nextLong(FIRST, end));
            for (int broken = 0; broken < 3; broken++) {
                long begin = plan.begin(saved);
                saved = pass(plan, saved, begin == 0 ? FIRST : begin, random.nextLong(begin, end));
            }
            long begin = plan.begin(saved);
            saved = pass(plan, saved, begin == 0 ? FIRST : begin, end);
            assertFalse(plan.isDue(plan.begin(saved), end), plan::toString);
        }
    }

    @Test
    void whatLiesBehindTheIndexNeedsNoPass() {
        IndexPlan plan = sparse(100_000_000_000L);
        long frontier = plan.next(plan.next(FIRST));
        Known known = known(plan.next(FIRST), frontier);
        assertFalse(plan.isLeft(known, FIRST));
        assertFalse(plan.isLeft(known, frontier));
        assertFalse(plan.isLeft(known, plan.next(frontier)), "no checkpoint is due before it");
        assertFalse(plan.isLeft(known, plan.next(frontier) + 2 * IndexPlan.MARGIN), "it may not have been possible");
        assertTrue(plan.isLeft(known, plan.next(plan.next(frontier))));
        assertFalse(plan.isLeft(known, null), "no pass reaches what comes before the first frame");
    }

    @Test
    void checkpointsWithoutTheFrameBeforeThemAreNoBeginning() {
        IndexPlan plan = sparse(100_000_000_000L);
        assertTrue(plan.isLeft(NOTHING, FIRST));
        assertTrue(plan.isLeft(new Known(null, new TreeSet<>(List.of(9_000L))), null));
        assertTrue(plan.isLeft(new Known(50_000L, new TreeSet<>(List.of(9_000L))), 60_000L));
    }

    @Test
    void aPassSavesNoMoreOftenThanIsUseful() {
        assertEquals(20_000_000, dense(1_000).next(0));
        assertEquals(20_000_000, sparse(200_000_000).next(0));
        assertEquals(100_000_000, dense(20_000_000_000L).next(0));
        assertEquals(1_250_000_000, sparse(20_000_000_000L).next(0));
        assertEquals(2_000_000_000, sparse(100_000_000_000L).next(0));
        assertEquals(5_000_000_000L, dense(4_000_000_000_000L).next(0));
        assertEquals(5_000_000_000L, sparse(4_000_000_000_000L).next(0));
    }
}
