package blackbox.schemas.event;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

class AllocationModeTest {

    @Test
    void itsBitsHaveTheNamesOfFallocate() {
        assertNull(new AllocationMode(0).text());
        assertEquals("keep-size", new AllocationMode(1).text());
        assertEquals("punch-hole+keep-size", new AllocationMode(3).text());
        assertEquals("collapse-range", new AllocationMode(8).text());
        assertEquals("zero-range+keep-size", new AllocationMode(0x11).text());
        assertEquals("insert-range", new AllocationMode(0x20).text());
        assertEquals("unshare-range", new AllocationMode(0x40).text());
    }

    @Test
    void whatAGuestMadeUpIsSaidAsANumber() {
        assertEquals("0x4", new AllocationMode(4).text());
        assertEquals("keep-size+0xffffff84", new AllocationMode(0xffffff85).text());
    }
}
