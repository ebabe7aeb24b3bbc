package blackbox.replay.exact;

import blackbox.vm.replay.SteppedMachine;
import blackbox.vm.seek.DataExtents;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.BitSet;
import java.util.zip.CRC32C;

/// What a machine that is paused holds.
final class MachineState {
    private static final int PAGE_BYTES = 1 << 16;

    private MachineState() {}

    /// Registers and all of RAM, in 32 bits of each. Whether zeros were ever written makes no difference.
    static long of(SteppedMachine machine) throws Exception {
        var sum = new CRC32C();
        BitSet pages = DataExtents.pages(machine.ram(), PAGE_BYTES);
        ByteBuffer zeros = ByteBuffer.allocateDirect(PAGE_BYTES);
        ByteBuffer buffer = ByteBuffer.allocateDirect(PAGE_BYTES);
        try (FileChannel ram = FileChannel.open(machine.ram())) {
            for (int page = pages.nextSetBit(0); page >= 0; page = pages.nextSetBit(page + 1)) {
                buffer.clear();
                while (buffer.hasRemaining() && ram.read(buffer, (long) page * PAGE_BYTES + buffer.position()) > 0) {}
                buffer.flip();
                if (!buffer.equals(zeros.clear().limit(buffer.limit()))) {
                    sum.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, page));
                    sum.update(buffer);
                }
            }
        }
        return sum.getValue() << 32 | machine.gdb().registers().values().hashCode() & 0xffff_ffffL;
    }
}
