package blackbox.vm.seek;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The content of the processor's registers.
///
/// @param values by name, in gdb's order
public record Registers(Map<String, Long> values) {
    private static final List<String> WIDE = List.of(
            "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
            "r15", "rip");
    private static final List<String> NARROW = List.of("eflags", "cs", "ss", "ds", "es", "fs", "gs");

    /// Copies the map and keeps its order.
    public Registers {
        values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
    }

    /// What gdb's packet `g` answers for this kind of processor: 17 registers of 64 bits, then 7 of 32.
    static Registers of(byte[] packet) throws VmException {
        if (packet.length < WIDE.size() * Long.BYTES + NARROW.size() * Integer.BYTES) {
            throw new VmException(Code.QEMU_FAILED, "QEMU gave " + packet.length + " octets of registers: too few");
        }
        ByteBuffer octets = ByteBuffer.wrap(packet).order(ByteOrder.LITTLE_ENDIAN);
        var values = new LinkedHashMap<String, Long>();
        WIDE.forEach(name -> values.put(name, octets.getLong()));
        NARROW.forEach(name -> values.put(name, Integer.toUnsignedLong(octets.getInt())));
        return new Registers(values);
    }

    /// The content of one register.
    public long get(String name) {
        Long value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException("there is no register " + name);
        }
        return value;
    }
}
