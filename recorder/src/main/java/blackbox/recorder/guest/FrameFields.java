package blackbox.recorder.guest;

import blackbox.recorder.Detail;
import blackbox.recorder.guest.AgentMounts.Origin;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Marks;
import blackbox.schemas.net.IpAddress;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.FileView;
import blackbox.schemas.wire.Frame;
import blackbox.schemas.wire.Tlv;
import blackbox.schemas.wire.TlvType;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Reads the values of one frame and remembers which were cut or could not be read.
final class FrameFields {

    /// The original size in the marks if it is not known.
    static final long SIZE_UNKNOWN = -1;

    private static final int AF_UNIX = 1;
    private static final int AF_INET6 = 10;

    private final Frame frame;
    private final AgentMounts mounts;
    private final Map<String, Long> truncated = new TreeMap<>();
    private final List<String> unread = new ArrayList<>();
    private final Map<String, Text> seen = new TreeMap<>();
    private long namespace;

    FrameFields(Frame frame, AgentMounts mounts) {
        this.frame = frame;
        this.mounts = mounts;
        this.namespace = mounts.agent();
    }

    /// The marks of what was read so far.
    Marks marks() {
        return truncated.isEmpty() && unread.isEmpty() ? Marks.NONE : new Marks(truncated, unread);
    }

    /// How the process itself saw the paths that were read so far, as JSON; null if as the agent's first processes do.
    @Nullable
    String seen() {
        if (seen.isEmpty() && namespace == mounts.agent()) {
            return null;
        }
        return seenTo(Detail.empty()).and("mountNamespace", namespace).toString();
    }

    /// Adds the paths that the process itself saw, where they are others.
    Detail seenTo(Detail detail) {
        if (!seen.isEmpty()) {
            Detail paths = Detail.empty();
            seen.forEach((name, path) -> paths.and(name, path.toString()));
            detail.and("seenAs", paths);
        }
        return detail;
    }

    /// The path of that name as the process itself sees it.
    @Nullable
    Text asSeen(String name, @Nullable Text path) {
        return seen.getOrDefault(name, path);
    }

    void unread(String name) {
        unread.add(name);
    }

    /// A readable TLV, after marking it if it is incomplete; null if there is none.
    private @Nullable Tlv whole(TlvType type, String name) {
        Tlv tlv = frame.find(type);
        if (tlv == null) {
            return null;
        }
        if (tlv.is(Tlv.TRUNCATED)) {
            truncated.put(name, tlv.originalLength() == Tlv.LENGTH_UNKNOWN ? SIZE_UNKNOWN : tlv.originalLength());
        }
        if (tlv.is(Tlv.FAULT)) {
            unread.add(name);
            return tlv.length() == 0 ? null : tlv;
        }
        return tlv;
    }

    /// A name as the caller gave it.
    @Nullable
    Text text(TlvType type, String name) {
        Tlv tlv = whole(type, name);
        return tlv == null ? null : Text.copyOf(tlv.array(), tlv.offset(), tlv.length());
    }

    /// A path, assembled from its names in reverse. One that was cut or could not be followed to the root
    /// lacks its beginning and so does not start with a slash. Where the agent has moved mounts, it is the path
    /// by which the file is known ([AgentMounts#known]).
    @Nullable
    Text path(TlvType type, String name) {
        Tlv tlv = whole(type, name);
        if (tlv == null) {
            return null;
        }
        Text path = assembled(tlv);
        int at = frame.tlvs().indexOf(tlv);
        Tlv origin = at(at + 1, TlvType.ORIGIN);
        if (origin == null) {
            return path.startsWith('/') ? path : unlikeFile(path);
        }
        Tlv inside = at(at + 2, TlvType.ORIGIN_PATH);
        return inside == null ? within(name, Origin.of(origin), tlv) : known(name, path, Origin.of(origin), inside);
    }

    private @Nullable Tlv at(int index, TlvType type) {
        Tlv found = index < frame.tlvs().size() ? frame.tlvs().get(index) : null;
        return found != null && found.type() == type.code() ? found : null;
    }

    /// What lacks its beginning, also where its names were made to look like a path in another file system.
    private static Text unlikeFile(Text path) {
        return FileView.isFile(path)
                ? AgentMounts.text("?/" + new String(path.toBytes(), StandardCharsets.ISO_8859_1))
                : path;
    }

    private Text known(String name, Text path, Origin origin, Tlv inside) {
        if (origin.namespace() == mounts.supervisor() || mounts.mounts().isEmpty()) {
            return path;
        }
        Text known = within(name, origin, inside);
        if (!known.equals(path)) {
            seen.put(name, path);
        }
        // Of an executed program and its directory the one that is elsewhere; pipes and the like are nowhere.
        if (origin.namespace() != mounts.agent() && FileView.isFile(known)) {
            namespace = origin.namespace();
        }
        return known;
    }

    /// @param tlv the file's names in its own file system
    private Text within(String name, Origin origin, Tlv tlv) {
        String inside = inside(tlv);
        if (tlv.is(Tlv.TRUNCATED) || tlv.is(Tlv.FAULT)) {
            truncated.put(name, SIZE_UNKNOWN);
            return unlikeFile(AgentMounts.text(inside));
        }
        return inside.startsWith("/") ? mounts.known(origin, inside) : AgentMounts.text(inside);
    }

    /// A path in its file system, an octet a character. That of a file system's root is named `/`; what has
    /// another root, a pipe say, or was cut, does not begin with a slash.
    private static String inside(Tlv tlv) {
        List<String> names = split(tlv).stream()
                .map(each -> new String(each.toBytes(), StandardCharsets.ISO_8859_1))
                .toList();
        if (names.isEmpty() || !names.getLast().equals("/")) {
            return String.join("/", names.reversed());
        }
        return "/" + String.join("/", names.subList(0, names.size() - 1).reversed());
    }

    private static Text assembled(Tlv tlv) {
        List<Text> names = split(tlv);
        var path = new ByteArrayOutputStream(tlv.length() + 1);
        boolean rooted = !tlv.is(Tlv.TRUNCATED) && !tlv.is(Tlv.FAULT) && !tlv.is(Tlv.DETACHED);
        for (int i = names.size() - 1; i >= 0; i--) {
            if (rooted || i < names.size() - 1) {
                path.write('/');
            }
            path.writeBytes(names.get(i).toBytes());
        }
        if (rooted && names.isEmpty()) {
            path.write('/');
        }
        byte[] octets = path.toByteArray();
        return Text.copyOf(octets, 0, octets.length);
    }

    /// Strings that each end in NUL; the last may lack it if the value was cut.
    @Nullable
    List<Text> strings(TlvType type, String name) {
        Tlv tlv = whole(type, name);
        return tlv == null ? null : split(tlv);
    }

    /// The names of an environment block; its values are not kept.
    @Nullable
    List<Text> environmentNames() {
        List<Text> entries = strings(TlvType.ENV, "env");
        if (entries == null) {
            return null;
        }
        var names = new ArrayList<Text>(entries.size());
        for (Text entry : entries) {
            byte[] octets = entry.toBytes();
            int length = 0;
            while (length < octets.length && octets[length] != '=') {
                length++;
            }
            names.add(Text.copyOf(octets, 0, length));
        }
        return names;
    }

    private static List<Text> split(Tlv tlv) {
        var parts = new ArrayList<Text>();
        int end = tlv.offset() + tlv.length();
        for (int from = tlv.offset(); from < end; ) {
            int to = from;
            while (to < end && tlv.array()[to] != 0) {
                to++;
            }
            parts.add(Text.copyOf(tlv.array(), from, to - from));
            from = to + 1;
        }
        return parts;
    }

    /// A number of a NUMBERS value; 0 where it is missing.
    long number(int index) {
        Tlv tlv = frame.find(TlvType.NUMBERS);
        return tlv == null ? 0 : tlv.u64(8 * index);
    }

    /// The protocol of a SOCKET value.
    String protocol() {
        Tlv tlv = frame.find(TlvType.SOCKET);
        if (tlv == null) {
            return "unknown";
        }
        if (tlv.u16(0) == AF_UNIX) {
            return "unix";
        }
        return switch (tlv.u16(2)) {
            case 6 -> "tcp";
            case 17 -> "udp";
            default -> Integer.toString(tlv.u16(2));
        };
    }

    @Nullable
    Endpoint local() {
        return endpoint(8, 4);
    }

    @Nullable
    Endpoint remote() {
        return endpoint(24, 6);
    }

    private @Nullable Endpoint endpoint(int addressAt, int portAt) {
        Tlv tlv = frame.find(TlvType.SOCKET);
        if (tlv == null || tlv.length() < 40 || tlv.u16(0) == AF_UNIX) {
            return null;
        }
        int at = tlv.offset() + addressAt;
        String ip = tlv.u16(0) == AF_INET6 ? IpAddress.v6(tlv.array(), at) : IpAddress.v4(tlv.array(), at);
        return new Endpoint(ip, tlv.u16(portAt));
    }
}
