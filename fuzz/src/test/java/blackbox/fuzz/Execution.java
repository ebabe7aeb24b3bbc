package blackbox.fuzz;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/// One input given to one target, and what it cost.
final class Execution {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /// What an execution took of its thread.
    ///
    /// @param allocatedBytes in sum, so that what is made and dropped again counts too: the same on any machine
    /// @param processorNs on the processor; what waits for it does not count
    private record Cost(long allocatedBytes, long processorNs) {
        /// What any input may cost.
        private static final Cost MAX = new Cost(128L << 20, 1_000_000_000L);
        /// What each of its octets adds.
        private static final Cost MAX_PER_OCTET = new Cost(16 << 10, 20_000);

        /// Of the calling thread so far.
        static Cost now() {
            return new Cost(THREADS.getCurrentThreadAllocatedBytes(), THREADS.getCurrentThreadCpuTime());
        }

        Cost since(Cost before) {
            return new Cost(allocatedBytes - before.allocatedBytes, processorNs - before.processorNs);
        }

        boolean isTooMuchFor(int octets) {
            return allocatedBytes > MAX.allocatedBytes + MAX_PER_OCTET.allocatedBytes * octets
                    || processorNs > MAX.processorNs + MAX_PER_OCTET.processorNs * octets;
        }
    }

    private Execution() {}

    /// Whether the target accepted the input. Whatever else is thrown than an exception that the target declares is a
    /// finding, and so is a cost that does not follow from the input's length.
    static boolean accepts(FuzzTarget target, byte[] input) throws Exception {
        Cost before = Cost.now();
        boolean accepted = run(target, input);
        if (Cost.now().since(before).isTooMuchFor(input.length)) {
            // It may have been the first to need some classes: those are loaded, and instrumented, on its thread.
            before = Cost.now();
            accepted = run(target, input);
            Cost cost = Cost.now().since(before);
            FuzzTarget.ensure(
                    !cost.isTooMuchFor(input.length),
                    target.name() + " takes too much for " + input.length + " octets: " + cost);
        }
        return accepted;
    }

    private static boolean run(FuzzTarget target, byte[] input) throws Exception {
        try {
            return target.parser().accepts(input.clone());
        } catch (Exception e) {
            if (!target.refusesWith(e)) {
                throw e;
            }
            return false;
        }
    }
}
