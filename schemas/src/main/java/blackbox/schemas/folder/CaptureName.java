package blackbox.schemas.folder;

import java.nio.file.Path;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The files that are kept beside a run's events, in `captures/<run>/`: see `schemas/capture.md`. Those that are sealed
/// by events are called so there, too.
public enum CaptureName {
    /// Every write to the state disk, in order, as Linux's dm-log-writes would log it.
    BLOCKS("blocks"),
    /// The frames that the machine sent, pcap.
    FRAMES_OUT("frames-out"),
    /// The frames that it was sent, pcap.
    FRAMES_IN("frames-in"),
    /// The archive that went in.
    WORKSPACE("workspace"),
    /// What the guest's random generator was given.
    ENTROPY("entropy"),
    /// The state disk as the snapshot had it, a qcow2 image.
    BASE("base.qcow2"),
    /// The text whose SHA-256 is the snapshot's digest. It names the digest of [#BASE].
    BASE_DIGESTS("base.digests"),
    /// The text whose SHA-256 is the image's digest. It names the digest of the root under the state disk.
    IMAGE_DIGESTS("image.digests"),
    /// Of the exact tier: RAM of the snapshot.
    RAM("ram"),
    /// Of the exact tier: devices of the snapshot.
    DEVICES("devices"),
    /// Of the exact tier: the first octets of a log of this QEMU's.
    HEADER("rr.header"),
    /// Of the exact tier: what the tracer sent before the snapshot.
    EVENTS_BEFORE("events.before"),
    /// Of the exact tier: what QEMU logged of what came from outside, without its first 12 octets.
    LOG("rr"),
    /// Of the exact tier: everything that the tracer sent.
    EVENTS("events"),
    /// Of the exact tier: what the guest wrote to its console.
    CONSOLE("console"),
    /// Of the exact tier: what the agent wrote, in the frames of the guest's protocol.
    STDIO("stdio"),
    /// Of the exact tier: what the guest's first process said.
    CONTROL("control");

    /// Of the exact tier: what the guest sends through its devices. A replay has to send the same.
    public static final Set<CaptureName> SENT =
            Collections.unmodifiableSet(EnumSet.of(EVENTS, CONSOLE, STDIO, CONTROL));

    /// What executing a run again is answered from.
    public static final Set<CaptureName> FRAMES = Collections.unmodifiableSet(EnumSet.of(FRAMES_OUT, FRAMES_IN));

    /// What a replay of the exact tier is made from and compared with.
    public static final Set<CaptureName> EXACT =
            Collections.unmodifiableSet(Stream.concat(Stream.of(LOG), SENT.stream())
                    .collect(Collectors.toCollection(() -> EnumSet.noneOf(CaptureName.class))));

    private final String text;

    CaptureName(String text) {
        this.text = text;
    }

    /// What the file is called in its folder and in events.
    public String text() {
        return text;
    }

    /// The file in a run's folder of captures.
    public Path in(Path captures) {
        return captures.resolve(text);
    }

    /// What these files are called.
    public static Set<String> texts(Set<CaptureName> names) {
        return names.stream().map(CaptureName::text).collect(Collectors.toUnmodifiableSet());
    }
}
