package blackbox.recorder.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;

class SequenceLedgerTest {

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
        var ledger = new SequenceLedger();
        ledger.begin(0, begin);
        long lost = 0;
        for (long seq : sent) {
            assertEquals(SequenceLedger.SequenceCheck.EXPECTED, ledger.take(0, seq));
            lost += count(ledger.settled());
        }
        return lost + count(ledger.close());
    }

    private static long count(List<SequenceLedger.Gap> gaps) {
        return gaps.stream().mapToLong(SequenceLedger.Gap::count).sum();
    }

    @Test
    void numberThatWasBeforeIsRepeated() {
        var ledger = new SequenceLedger();
        ledger.begin(3, 10);
        assertEquals(SequenceLedger.SequenceCheck.EXPECTED, ledger.take(3, 11));
        assertEquals(SequenceLedger.SequenceCheck.REPEATED, ledger.take(3, 11));
        assertEquals(SequenceLedger.SequenceCheck.REPEATED, ledger.take(3, 10));
    }

    @Test
    void jumpThatNoMachineCanMakeIsImpossible() {
        var ledger = new SequenceLedger();
        ledger.begin(0, 0);
        assertEquals(SequenceLedger.SequenceCheck.IMPOSSIBLE, ledger.take(0, Long.MAX_VALUE));
        assertEquals(SequenceLedger.SequenceCheck.EXPECTED, ledger.take(0, 1));
    }

    @Test
    void firstFramesThatNeverCameAreDeclaredFromWhereTheTracerWasReady() {
        var ledger = new SequenceLedger();
        ledger.begin(0, 77);
        ledger.take(0, 81);
        assertEquals(List.of(new SequenceLedger.Gap(0, 78, 80)), ledger.close());
        assertEquals(List.of(), ledger.close());
    }
}
