package blackbox.replay.exact;

import blackbox.vm.replay.SteppedMachine;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.zip.CRC32C;

/// What a machine that is paused holds.
final class MachineState {

    private MachineState() {}

    /// Registers and all of RAM, in 32 bits of each.
    static long of(SteppedMachine machine) throws Exception {
        var sum = new CRC32C();
        try (FileChannel ram = FileChannel.open(machine.ram())) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 20);
            while (ram.read(buffer) > 0) {
                sum.update(buffer.flip());
                buffer.clear();
            }
        }
        return sum.getValue() << 32 | machine.gdb().registers().values().hashCode() & 0xffff_ffffL;
    }
}
