package blackbox.replay.packets;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.text.Printable;
import blackbox.query.answer.LimitCollector;
import blackbox.query.answer.TouchedCollector;
import blackbox.query.run.RunFacts;
import blackbox.replay.ReplayException;
import blackbox.replay.capture.Payload;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.packets.FlowOwners.Ends;
import blackbox.replay.packets.PcapngWriter.Direction;
import blackbox.schemas.Release;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.net.IpAddress;
import blackbox.schemas.net.IpHeader;
import blackbox.schemas.net.PcapReader;
import blackbox.schemas.net.TcpHeader;
import blackbox.schemas.net.UdpHeader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Writes the frames of a run as pcapng, as Wireshark opens it: interface 0 is the guest's, with what it sent
/// and received in the order of their times; interface 1 is what it said and heard within TLS that the gateway
/// opened, in made-up frames. The first frame of each connection of the guest's has its process as a comment,
/// with the index of the event that says so. Only octets that events seal are written, after they were checked
/// against them.
public final class PacketExport {

    private static final int GUEST = 0;
    private static final int PLAINTEXT = 1;
    private static final int SENDER_LAST = 11;
    private static final int GUESTS_LAST = 1;
    private static final int SEEN_MAX = 1_000_000;
    private static final String NOT_KNOWN = "no event says which process";

    private final PcapngWriter out;
    private final FlowOwners owners;
    private final Set<Ends> datagrams = new HashSet<>();
    private final Set<Beginning> segments = new HashSet<>();
    private long frames;
    private long named;

    /// A connection's first segment, which may be sent again.
    private record Beginning(Ends ends, int sequence) {}

    /// What was written.
    ///
    /// @param frames how many
    /// @param connections how many of them have a comment that names a process
    /// @param limits what the recording and the file may lack, in sentences
    public record Written(long frames, long connections, List<String> limits) {
        public Written {
            limits = List.copyOf(limits);
        }
    }

    private PacketExport(PcapngWriter out, FlowOwners owners) {
        this.out = out;
        this.owners = owners;
    }

    /// Whether the run sealed any frames.
    ///
    /// @throws ReplayException `ALTERED`
    public static boolean isPossible(Recordings recordings, RunId run) throws ReplayException, IOException {
        Map<String, SealedCapture> captures = SealedCapture.readAll(recordings, run);
        return CaptureName.FRAMES.stream().anyMatch(name -> captures.containsKey(name.text()));
    }

    /// Writes it; the caller closes `to`. Of a run without frames it is an empty capture.
    ///
    /// @throws ReplayException `MISSING` when the frames are not here, `ALTERED`
    public static Written write(Recordings recordings, RunId run, OutputStream to) throws ReplayException, IOException {
        Payload.refuseShredded(recordings, run);
        Map<String, SealedCapture> captures = SealedCapture.readAll(recordings, run);
        SealedCapture sent = captures.get(CaptureName.FRAMES_OUT.text());
        SealedCapture received = captures.get(CaptureName.FRAMES_IN.text());
        SealedCapture plaintext = captures.get(CaptureName.PLAINTEXT.text());
        var present = new ArrayList<SealedCapture>();
        for (CaptureName name : CaptureName.FRAMES) {
            SealedCapture each = captures.get(name.text());
            if (each != null) {
                each.check();
                present.add(each);
            }
        }
        var owners = new FlowOwners();
        var limits = new LimitCollector();
        RunFacts facts = TouchedCollector.read(recordings, run, (event, index) -> {
            limits.see(event, index);
            owners.see(event, index);
        });
        var said = new ArrayList<String>(limits.limits(facts));
        said.addAll(owners.limits());
        for (SealedCapture each : present) {
            SealedCapture.Ended ended = each.ended();
            if (ended != null) {
                said.add(each.name() + " was not kept to its end (" + ended.why() + "): frames after event "
                        + ended.index() + " are missing");
            }
        }
        said.addAll(missing(facts, sent, received));
        var writer = new PcapngWriter(to);
        writer.section(
                "Blackbox " + Release.VERSION,
                "run " + run + "\n" + Printable.of(String.join("\n", said)).replace("\\x0a", "\n"));
        writer.ethernet("guest", "what the guest's interface sent and received; times are the machine's clock");
        if (plaintext != null) {
            writer.ethernet(
                    "inside-tls",
                    "what was said within TLS that the gateway opened: octets and ends are real, frames are made up;"
                            + " times are the host's clock");
        }
        writer.names(owners.names());
        var export = new PacketExport(writer, owners);
        export.guest(sent, received);
        if (plaintext != null) {
            export.plaintext(plaintext);
        }
        return new Written(export.frames, export.named, said);
    }

    /// Captures whose end nothing vouches for, and one of which there is nothing.
    private static List<String> missing(
            RunFacts facts, @Nullable SealedCapture sent, @Nullable SealedCapture received) {
        var missing = new ArrayList<String>();
        if (sent == null || received == null) {
            missing.add("there is nothing of what the guest's interface " + (sent == null ? "sent" : "received"));
        }
        RunFacts.End end = facts.end();
        if (end != null) {
            end.detail().path("unsealed").properties().forEach(each -> {
                if (CaptureName.texts(CaptureName.FRAMES).contains(each.getKey())) {
                    missing.add("the last frames of " + each.getKey() + " are missing, since they could not be sealed: "
                            + each.getValue().asText());
                }
            });
        }
        return missing;
    }

    private static PcapReader reader(@Nullable SealedCapture capture) throws IOException {
        return new PcapReader(capture == null ? InputStream.nullInputStream() : capture.open());
    }

    private void guest(@Nullable SealedCapture sent, @Nullable SealedCapture received) throws IOException {
        try (PcapReader from = reader(sent);
                PcapReader to = reader(received)) {
            PcapReader.Frame next = from.next();
            PcapReader.Frame answer = to.next();
            while (next != null || answer != null) {
                if (next != null && (answer == null || next.micros() <= answer.micros())) {
                    write(GUEST, next, Direction.OUT, owner(next.octets()));
                    next = from.next();
                } else if (answer != null) {
                    write(GUEST, answer, Direction.IN, null);
                    answer = to.next();
                }
            }
        }
    }

    private void plaintext(SealedCapture capture) throws IOException {
        try (PcapReader reader = reader(capture)) {
            for (PcapReader.Frame frame = reader.next(); frame != null; frame = reader.next()) {
                write(PLAINTEXT, frame, isGuests(frame.octets()) ? Direction.OUT : Direction.IN, null);
            }
        }
    }

    /// By the address that the sender has in these frames.
    private static boolean isGuests(byte[] frame) {
        return frame.length > SENDER_LAST && frame[SENDER_LAST] == GUESTS_LAST;
    }

    private void write(int number, PcapReader.Frame frame, Direction direction, @Nullable String comment)
            throws IOException {
        out.frame(number, frame.micros(), direction, frame.octets(), comment);
        frames++;
    }

    /// What is said of a frame that the guest sent, if it is the first of a connection.
    private @Nullable String owner(byte[] frame) {
        IpHeader ip = IpHeader.of(frame);
        if (ip == null || !ip.isWellFormed() || ip.part() == IpHeader.Part.LATER) {
            return null;
        }
        String remote = address(frame, ip);
        if (ip.protocol() == IpHeader.TCP) {
            TcpHeader tcp = TcpHeader.of(frame, ip.payloadAt(), ip.end());
            if (tcp == null || (tcp.flags() & (TcpHeader.SYN | TcpHeader.ACK)) != TcpHeader.SYN) {
                return null;
            }
            var ends = new Ends("tcp", tcp.sourcePort(), remote, tcp.destinationPort());
            boolean again = segments.size() < SEEN_MAX && !segments.add(new Beginning(ends, tcp.sequence()));
            return again ? null : said(owners.ofSegment(ends, tcp.sequence()));
        }
        if (ip.protocol() != IpHeader.UDP) {
            return null;
        }
        UdpHeader udp = UdpHeader.of(frame, ip.payloadAt(), ip.end());
        if (udp == null) {
            return null;
        }
        var ends = new Ends("udp", udp.sourcePort(), remote, udp.destinationPort());
        return datagrams.size() < SEEN_MAX && datagrams.add(ends) ? said(owners.ofDatagram(ends)) : null;
    }

    private String said(@Nullable String owner) {
        if (owner == null) {
            return NOT_KNOWN;
        }
        named++;
        return owner;
    }

    private static String address(byte[] frame, IpHeader ip) {
        return ip.version() == 4 ? IpAddress.v4(frame, ip.destinationAt()) : IpAddress.v6(frame, ip.destinationAt());
    }
}
