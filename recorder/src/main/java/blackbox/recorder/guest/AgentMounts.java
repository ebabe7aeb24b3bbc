package blackbox.recorder.guest;

import blackbox.schemas.row.Text;
import blackbox.schemas.wire.Tlv;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What was mounted for the agent before it ran, so that a file which it later reaches through mounts of its own is
/// named
/// by the path at which the agent's first namespace of mounts has it.
///
/// @param supervisor the namespace of mounts of what runs and watches the agent, which no agent can change; 0 if not
/// known
/// @param agent the one in which the agent was started; 0 if not known
/// @param mounts all of the latter's
record AgentMounts(long supervisor, long agent, List<Mount> mounts) {
    /// Nothing is known: paths are as the guest's kernel gives them.
    static final AgentMounts NONE = new AgentMounts(0, 0, List.of());

    private static final int MOUNTS_MAX = 256;
    private static final int DEVICE_MINOR_BITS = 20;

    /// The kernel's numbers for file systems (include/uapi/linux/magic.h and the file systems' own headers).
    private static final Map<Long, String> FILE_SYSTEMS = Map.ofEntries(
            Map.entry(0x794c7630L, "overlay"),
            Map.entry(0x01021994L, "tmpfs"),
            Map.entry(0xe0f5e1e2L, "erofs"),
            Map.entry(0xef53L, "ext4"),
            Map.entry(0x9fa0L, "proc"),
            Map.entry(0x62656572L, "sysfs"),
            Map.entry(0x1cd1L, "devpts"),
            Map.entry(0x19800202L, "mqueue"),
            Map.entry(0x63677270L, "cgroup2"),
            Map.entry(0x65735546L, "fuse"),
            Map.entry(0x73717368L, "squashfs"),
            Map.entry(0x858458f6L, "ramfs"),
            Map.entry(0x958458f6L, "hugetlbfs"),
            Map.entry(0x6e736673L, "nsfs"),
            Map.entry(0xcafe4a11L, "bpf"));

    /// One mount.
    ///
    /// @param device the file system's, as the kernel counts it: major number above 20 bits of the minor
    /// @param root the folder of the file system that is mounted
    /// @param at where, a path without a slash at its end, but for the root
    record Mount(long device, String root, String at) {
        /// The path that `inside` has through this mount, or null if it is not below its root.
        private @Nullable String path(String inside) {
            String rest = below(root, inside);
            return rest == null ? null : at.equals("/") && !rest.isEmpty() ? rest : at + rest;
        }

        private static @Nullable String below(String folder, String path) {
            if (folder.equals("/")) {
                return path.equals("/") ? "" : path;
            }
            boolean is = path.startsWith(folder)
                    && (path.length() == folder.length() || path.charAt(folder.length()) == '/');
            return is ? path.substring(folder.length()) : null;
        }
    }

    AgentMounts {
        mounts = List.copyOf(mounts);
    }

    /// Reads what the guest's first process says of them; what is not as expected counts as not said.
    static AgentMounts of(JsonNode said) {
        var mounts = new ArrayList<Mount>();
        for (JsonNode each : said.path("mounts")) {
            String root = each.path("root").asText();
            String at = each.path("at").asText();
            if (root.startsWith("/") && at.startsWith("/") && mounts.size() < MOUNTS_MAX) {
                mounts.add(new Mount(each.path("device").asLong(), root, at));
            }
        }
        return new AgentMounts(
                said.path("supervisor").asLong(), said.path("agent").asLong(), mounts);
    }

    /// Which file a path leads to, as the kernel says beside the path.
    ///
    /// @param device as in [Mount#device]
    /// @param fileSystem the kernel's number for its kind
    /// @param namespace of the mount through which it was reached, 0 if that is mounted nowhere
    record Origin(long device, long fileSystem, long namespace) {
        static Origin of(Tlv tlv) {
            return new Origin(tlv.u64(0), tlv.u64(16), tlv.u32(24));
        }
    }

    /// The path by which a file is known: the agent's, or, where its first namespace does not show the file, one
    /// that begins with the file system's kind and device, such as `tmpfs[0:45]/passwd`.
    ///
    /// @param path in its file system, from the root, without a slash at its end; an octet a character
    Text known(Origin origin, String path) {
        for (Mount mount : mounts) {
            String seen = mount.device() == origin.device() ? mount.path(path) : null;
            if (seen != null && isShown(seen, mount)) {
                return text(seen);
            }
        }
        long minor = origin.device() & ((1L << DEVICE_MINOR_BITS) - 1);
        return text(
                kind(origin.fileSystem()) + "[" + (origin.device() >>> DEVICE_MINOR_BITS) + ":" + minor + "]" + path);
    }

    /// Whether a path leads through this mount, and not through one that is mounted over it.
    private boolean isShown(String path, Mount through) {
        Mount last = through;
        for (Mount mount : mounts) {
            // What is mounted later at the same place hides what was there.
            if (Mount.below(mount.at(), path) != null
                    && mount.at().length() >= last.at().length()) {
                last = mount;
            }
        }
        return last.equals(through);
    }

    private static String kind(long fileSystem) {
        String name = FILE_SYSTEMS.get(fileSystem);
        return name == null ? "filesystem-" + Long.toHexString(fileSystem) : name;
    }

    /// The text of these octets, one a character.
    static Text text(String octets) {
        byte[] bytes = octets.getBytes(StandardCharsets.ISO_8859_1);
        return Text.copyOf(bytes, 0, bytes.length);
    }
}
