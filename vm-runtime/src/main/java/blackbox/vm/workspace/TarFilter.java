package blackbox.vm.workspace;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Reads an archive in POSIX.1-2001 pax format (what the guest's `tar --format=posix` writes) and writes an
/// equivalent one in which we wrote every header. Whatever is malformed, out of bounds or reaches outside is
/// refused, so the program that unpacks the result never parses a byte of a header that the guest wrote.
///
/// Names are octets, held as ISO 8859-1 strings so that any octet survives.
public final class TarFilter {
    private static final int BLOCK = 512;
    private static final int EXTENDED_BYTES_MAX = 1 << 20;
    private static final int PATH_BYTES_MAX = 4096;
    private static final int NAMES_LEFT_OUT_MAX = 3;
    private static final int NAME_BYTES_MAX = 255;

    private final Limits limits;
    private final Set<String> folders = new HashSet<>();
    private final Set<String> files = new HashSet<>();
    private final Map<String, String> symlinks = new HashMap<>();
    private long entries;
    private long leftOut;
    private final List<String> namesLeftOut = new ArrayList<>();
    private long content;
    private long namesBytes;

    /// @param entriesMax the most files, folders and links
    /// @param contentBytesMax the most bytes in all files together
    /// @param namesBytesMax the most bytes in all paths and all targets of links together, which are held in memory
    public record Limits(long entriesMax, long contentBytesMax, long namesBytesMax) {
        /// One million entries, 12 GiB, 256 MiB.
        public static final Limits DEFAULT = new Limits(1_000_000, 12L << 30, 256L << 20);
    }

    /// A filter for one archive.
    public TarFilter(Limits limits) {
        this.limits = limits;
    }

    /// How many entries were passed on.
    public long entries() {
        return entries;
    }

    /// The names of the first entries that were left out, as ISO 8859-1.
    public List<String> namesLeftOut() {
        return List.copyOf(namesLeftOut);
    }

    /// How many entries were left out: devices and pipes.
    public long leftOut() {
        return leftOut;
    }

    /// Copies the archive up to its end marker.
    ///
    /// @throws VmException `WORKSPACE_REFUSED`
    public void copy(InputStream from, OutputStream to) throws IOException, VmException {
        var out = new TarWriter(to);
        Map<String, String> extended = null;
        for (TarHeader header = TarHeader.read(from); header != null; header = TarHeader.read(from)) {
            if (header.type() == 'x') {
                require(extended == null, "two extended headers of one entry");
                extended = extended(from, header);
                continue;
            }
            entry(extended == null ? header : header.with(extended), from, out);
            extended = null;
        }
        out.finish();
    }

    private void entry(TarHeader header, InputStream from, TarWriter out) throws IOException, VmException {
        if (++entries > limits.entriesMax()) {
            throw refused("it has more than " + limits.entriesMax() + " entries");
        }
        String path = clean(header.path());
        if (path.isEmpty()) {
            require(header.type() == '5' && header.size() == 0, "its root is not a folder");
            return;
        }
        claim(path);
        switch (header.type()) {
            case '0', '\0' -> file(header, path, from, out);
            case '1' -> hardLink(header, path, out);
            case '2' -> {
                require(!header.link().isEmpty() && header.link().length() <= PATH_BYTES_MAX, "a link without target");
                require(header.link().indexOf('\0') < 0, "a link with a NUL in its target");
                hold(header.link());
                symlinks.put(path, header.link());
                out.entry('2', path, header.link(), 0777, 0, header.modified());
            }
            case '5' -> {
                require(header.size() == 0, "a folder with content");
                folders.add(path);
                out.entry('5', path, "", header.mode() & 0777 | 0700, 0, header.modified());
            }
            case '3', '4', '6' -> {
                require(header.size() == 0, "a device with content");
                leftOut++;
                if (namesLeftOut.size() < NAMES_LEFT_OUT_MAX) {
                    namesLeftOut.add(path);
                }
            }
            default -> throw refused("it has an entry of type " + (int) header.type());
        }
    }

    private void file(TarHeader header, String path, InputStream from, TarWriter out) throws IOException, VmException {
        if (header.size() < 0 || header.size() > limits.contentBytesMax() - content) { // a sum could wrap
            throw new VmException(
                    Code.WORKSPACE_TOO_LARGE,
                    "the guest's workspace has more than " + limits.contentBytesMax() + " bytes of content");
        }
        content += header.size();
        files.add(path);
        out.entry('0', path, "", header.mode() & 0777, header.size(), header.modified());
        out.content(from, header.size());
        if (from.readNBytes(padding(header.size())).length != padding(header.size())) {
            throw refused("it ends in the middle of a file");
        }
    }

    private void hardLink(TarHeader header, String path, TarWriter out) throws IOException, VmException {
        require(header.size() == 0, "a link with content");
        String target = clean(header.link());
        String symlink = symlinks.get(target);
        if (symlink != null) {
            symlinks.put(path, symlink);
            out.entry('2', path, symlink, 0777, 0, header.modified());
            return;
        }
        require(files.contains(target), "a hard link to what is not one of its files");
        files.add(path);
        out.entry('1', path, target, header.mode() & 0777, 0, header.modified());
    }

    /// Components without `.`, leading `/` or doubled slashes; `..` is refused.
    private static String clean(String path) throws VmException {
        require(path.length() <= PATH_BYTES_MAX, "a path of more than " + PATH_BYTES_MAX + " bytes");
        require(path.indexOf('\0') < 0, "a path with a NUL");
        var kept = new StringBuilder();
        for (String component : path.split("/")) {
            if (component.isEmpty() || component.equals(".")) {
                continue;
            }
            require(!component.equals(".."), "a path with '..'");
            require(component.length() <= NAME_BYTES_MAX, "a name of more than " + NAME_BYTES_MAX + " bytes");
            kept.append(kept.isEmpty() ? "" : "/").append(component);
        }
        return kept.toString();
    }

    /// Ensures that nothing has this name yet and that its parent is a folder of this archive, as that one's parent is.
    private void claim(String path) throws VmException {
        hold(path);
        require(!taken(path), "the same path twice");
        int slash = path.lastIndexOf('/');
        require(slash < 0 || folders.contains(path.substring(0, slash)), "a path below what is not one of its folders");
    }

    /// Counts a name, or a link's target, that stays in memory.
    private void hold(String name) throws VmException {
        namesBytes += name.length();
        require(
                namesBytes <= limits.namesBytesMax(),
                "names of more than " + limits.namesBytesMax() + " bytes together");
    }

    private boolean taken(String path) {
        return folders.contains(path) || files.contains(path) || symlinks.containsKey(path);
    }

    private static Map<String, String> extended(InputStream from, TarHeader header) throws IOException, VmException {
        require(header.size() >= 0 && header.size() <= EXTENDED_BYTES_MAX, "an extended header that is too large");
        int size = (int) header.size();
        byte[] octets = from.readNBytes(size);
        require(octets.length == size, "it ends in the middle of a header");
        from.readNBytes(padding(size));
        String text = new String(octets, StandardCharsets.ISO_8859_1);
        var records = new HashMap<String, String>();
        for (int at = 0; at < text.length(); ) {
            int space = text.indexOf(' ', at);
            require(space > at && space - at < 8, "a malformed extended header");
            int length = (int) number(text.substring(at, space));
            int equals = text.indexOf('=', space);
            int end = at + length;
            require(
                    length > 0 && end <= text.length() && equals > space && equals < end,
                    "a malformed extended header");
            require(text.charAt(end - 1) == '\n', "a malformed extended header");
            records.put(text.substring(space + 1, equals), text.substring(equals + 1, end - 1));
            at = end;
        }
        require(records.keySet().stream().noneMatch(key -> key.startsWith("GNU.")), "a sparse file");
        return records;
    }

    static long number(String digits) throws VmException {
        try {
            long value = Long.parseLong(digits);
            require(value >= 0, "a negative number");
            return value;
        } catch (NumberFormatException e) {
            throw new VmException(Code.WORKSPACE_REFUSED, "the guest's workspace was refused: a malformed number", e);
        }
    }

    static BigDecimal time(String text) throws VmException {
        require(text.length() <= 40 && text.matches("-?[0-9]{1,18}(\\.[0-9]*)?"), "a malformed time");
        return new BigDecimal(text.endsWith(".") ? text + "0" : text);
    }

    static int padding(long size) {
        return (int) ((BLOCK - size % BLOCK) % BLOCK);
    }

    static void require(boolean holds, String otherwise) throws VmException {
        if (!holds) {
            throw refused(otherwise);
        }
    }

    private static VmException refused(String why) {
        return new VmException(Code.WORKSPACE_REFUSED, "the guest's workspace was refused: " + why);
    }
}
