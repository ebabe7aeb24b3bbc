package blackbox.schemas.folder;

import java.nio.file.Path;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The files that are stored beside a run's events, in `captures/<run>/`: see `schemas/capture.md`. Events
/// that seal them use the same names.
public enum CaptureName {
    /// Every write to the state disk, in order, as Linux's dm-log-writes would log it.
    BLOCKS("blocks"),
    /// The frames that the machine sent, pcap.
    FRAMES_OUT("frames-out"),
    /// The frames that the machine received, pcap.
    FRAMES_IN("frames-in"),
    /// What went over connections whose TLS the egress gateway opened, without TLS, in frames, pcap.
    PLAINTEXT("plaintext"),
    /// What the agent was given on its standard input.
    STDIN("stdin"),
    /// What the agent printed on its standard output, or on its terminal, with the time of each piece.
    STDOUT("stdout"),
    /// What it printed on its standard error.
    STDERR("stderr"),
    /// What the agent's terminal showed, as asciicast version 2.
    TERMINAL("terminal"),
    /// The archive of the workspace that went in.
    WORKSPACE("workspace"),
    /// The seed of the guest's random generator.
    ENTROPY("entropy"),
    /// The state disk as of the snapshot, a qcow2 image.
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
    /// Of the exact tier: QEMU's log of everything that came from outside, without its first 12 octets.
    LOG("rr"),
    /// Of the exact tier: everything that the tracer sent.
    EVENTS("events"),
    /// Of the exact tier: what the guest wrote to its console.
    CONSOLE("console"),
    /// Of the exact tier: what the agent wrote, in the frames of the guest's protocol.
    STDIO("stdio"),
    /// Of the exact tier: the messages of the guest's first process.
    CONTROL("control");

    /// Of the exact tier: what the guest sends through its devices. A replay has to send the same.
    public static final Set<CaptureName> SENT =
            Collections.unmodifiableSet(EnumSet.of(EVENTS, CONSOLE, STDIO, CONTROL));

    /// The files from which the network's answers to a re-executed run are taken.
    public static final Set<CaptureName> FRAMES =
            Collections.unmodifiableSet(EnumSet.of(FRAMES_OUT, FRAMES_IN, PLAINTEXT));

    /// The files that drive a replay of the exact tier, and those that it is compared with.
    public static final Set<CaptureName> EXACT =
            Collections.unmodifiableSet(Stream.concat(Stream.of(LOG), SENT.stream())
                    .collect(Collectors.toCollection(() -> EnumSet.noneOf(CaptureName.class))));

    /// What may hold secrets: it is encrypted once the run is closed. The rest is from before the agent, or digests.
    public static final Set<CaptureName> SECRET = Collections.unmodifiableSet(Stream.concat(
                    EXACT.stream(),
                    Stream.of(
                            BLOCKS,
                            FRAMES_OUT,
                            FRAMES_IN,
                            PLAINTEXT,
                            STDIN,
                            STDOUT,
                            STDERR,
                            TERMINAL,
                            WORKSPACE,
                            ENTROPY))
            .collect(Collectors.toCollection(() -> EnumSet.noneOf(CaptureName.class))));

    private final String text;

    CaptureName(String text) {
        this.text = text;
    }

    /// The file's name in its folder and in events.
    public String text() {
        return text;
    }

    /// The file in a run's folder of captures.
    public Path in(Path captures) {
        return captures.resolve(text);
    }

    /// The names of these files.
    public static Set<String> texts(Set<CaptureName> names) {
        return names.stream().map(CaptureName::text).collect(Collectors.toUnmodifiableSet());
    }
}
