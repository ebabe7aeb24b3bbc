package blackbox.recorder.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;

class SequenceLedgerTest {

    /// As many as a frame can name.
    private static final int CPUS = 4_096;

    @Test
    void whatNeverCameIsDeclaredOnceAndWhatCameLateIsNot() {
        long seed = Long.getLong("blackbox.seed", System.nanoTime());
        System.out.println("SequenceLedgerTest: -Dblackbox.seed=" + seed);
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        for (int round = 0; round < 200; round++) {
            long begin = random.nextInt(1000);
            var sent = new ArrayList<Long>();
            long dropped = 0;
            long last = begin + random.nextInt(1, 3000);
            for (long seq = begin + 1; seq <= last; seq++) {
                if (random.nextInt(10) == 0 && seq != last) {
                    dropped++;
                } else {
                    sent.add(seq);
                }
            }
            swapNeighbours(sent, random);
            assertEquals(dropped, declared(begin, sent));
        }
    }

    private static void swapNeighbours(List<Long> sent, RandomGenerator random) {
        for (int i = 0; i + 1 < sent.size(); i++) {
            if (random.nextInt(20) == 0) {
                Long first = sent.get(i);
                sent.set(i, sent.get(i + 1));
                sent.set(i + 1, first);
            }
        }
    }

    private static long declared(long begin, List<Long> sent) {
        var ledger = new SequenceLedger(List.of(begin));
        long lost = 0;
        for (long seq : sent) {
            assertEquals(SequenceLedger.SequenceCheck.EXPECTED, ledger.take(0, seq));
            lost += count(ledger.settled(0));
        }
        return lost + count(ledger.close());
    }

    private static long count(List<SequenceLedger.Gap> gaps) {
        return gaps.stream().mapToLong(SequenceLedger.Gap::count).sum();
    }

    @Test
    void numberThatWasBeforeIsRepeated() {
        var ledger = new SequenceLedger(List.of(0L, 10L));
        assertEquals(SequenceLedger.SequenceCheck.EXPECTED, ledger.take(1, 11));
        assertEquals(SequenceLedger.SequenceCheck.REPEATED, ledger.take(1, 11));
        assertEquals(SequenceLedger.SequenceCheck.REPEATED, ledger.take(1, 10));
    }

    @Test
    void jumpThatNoMachineCanMakeIsImpossible() {
        var ledger = new SequenceLedger(List.of(0L));
        assertEquals(SequenceLedger.SequenceCheck.IMPOSSIBLE, ledger.take(0, Long.MAX_VALUE));
        assertEquals(SequenceLedger.SequenceCheck.EXPECTED, ledger.take(0, 1));
    }

    @Test
    void firstFramesThatNeverCameAreDeclaredFromWhereTheTracerWasReady() {
        var ledger = new SequenceLedger(List.of(77L));
        ledger.take(0, 81);
        assertEquals(List.of(new SequenceLedger.Gap(0, 78, 80)), ledger.close());
        assertEquals(List.of(), ledger.close());
    }

    @Test
    void aCpuThatTheGuestDoesNotHaveIsImpossibleAndNotAccountedFor() {
        var ledger = new SequenceLedger(List.of(5L, 5L));
        assertEquals(SequenceLedger.SequenceCheck.EXPECTED, ledger.take(1, 6));
        for (int cpu = 2; cpu < CPUS; cpu++) {
            assertEquals(SequenceLedger.SequenceCheck.IMPOSSIBLE, ledger.take(cpu, 9));
            assertEquals(List.of(), ledger.settled(cpu));
        }
        assertEquals(List.of(), ledger.close());
    }

    @Test
    void ofATracerThatDidNotSayWhereItBeganAnyCpuBeginsAtOne() {
        var ledger = new SequenceLedger(List.of());
        assertEquals(SequenceLedger.SequenceCheck.EXPECTED, ledger.take(CPUS - 1, 3));
        assertEquals(List.of(new SequenceLedger.Gap(CPUS - 1, 1, 2)), ledger.close());
    }

    /// Every second number is missing, of as many CPUs as a frame can name.
    @Test
    void whatAFrameCostsDoesNotDependOnTheNumberOfCpus() {
        var ledger = new SequenceLedger(List.of());
        int rounds = 2 * SequenceLedger.PATIENCE;
        long lost = 0;
        for (long seq = 2; seq <= 2L * rounds; seq += 2) {
            for (int cpu = 0; cpu < CPUS; cpu++) {
                long before = ledger.steps();
                assertEquals(SequenceLedger.SequenceCheck.EXPECTED, ledger.take(cpu, seq));
                lost += count(ledger.settled(cpu));
                assertTrue(ledger.steps() - before <= 2, "a frame looks at the oldest gap of its CPU, and settles one");
            }
        }
        assertEquals((long) CPUS * rounds, lost + count(ledger.close()));
    }

    /// Numbers that arrive late and split one gap into as many as there are of them: the CPU's highest number stays.
    @Test
    void aCpuHasFewGapsHoweverOneIsSplit() {
        var ledger = new SequenceLedger(List.of(0L));
        long jump = 1L << 30;
        assertEquals(SequenceLedger.SequenceCheck.EXPECTED, ledger.take(0, jump));
        for (int i = 1; i < SequenceLedger.PATIENCE; i++) {
            assertEquals(SequenceLedger.SequenceCheck.EXPECTED, ledger.take(0, jump - 2L * i));
            assertEquals(List.of(), ledger.settled(0));
        }
        assertEquals(SequenceLedger.SequenceCheck.EXPECTED, ledger.take(0, 2));
        List<SequenceLedger.Gap> settled = ledger.settled(0);
        assertEquals(SequenceLedger.PATIENCE + 1, settled.size());
        assertEquals(jump - SequenceLedger.PATIENCE - 1, count(settled));
        for (long seq = 4; seq < 200_000; seq += 2) {
            long before = ledger.steps();
            assertEquals(SequenceLedger.SequenceCheck.REPEATED, ledger.take(0, seq));
            assertEquals(List.of(), ledger.settled(0));
            assertEquals(before + 1, ledger.steps());
        }
    }
}
