package blackbox.vm.seek;

import blackbox.vm.Command;
import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.BitSet;

/// Where a sparse file holds data: a disk of 16 GiB has some megabytes of it.
public final class DataExtents {

    private DataExtents() {}

    /// The pages of `file` that may hold something other than zeros, by number.
    public static BitSet pages(Path file, int pageBytes) throws VmException {
        String map = Command.of("qemu-img", "map", "--output=json", "-f", "raw", file.toString())
                .run();
        var pages = new BitSet();
        try {
            for (JsonNode extent : Json.parse(map)) {
                if (extent.path("data").asBoolean()) {
                    long from = extent.path("start").asLong();
                    long to = from + extent.path("length").asLong();
                    pages.set(Math.toIntExact(from / pageBytes), Math.toIntExact(Math.ceilDiv(to, (long) pageBytes)));
                }
            }
            return pages;
        } catch (JsonProcessingException e) {
            throw new VmException(Code.QEMU_FAILED, "qemu-img does not say where " + file + " holds data", e);
        }
    }
}
