package blackbox.gateway.stack;

import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.Findings;
import blackbox.gateway.egress.FlowEnd.How;
import blackbox.gateway.packet.SynOptions;
import blackbox.schemas.net.IpHeader;
import blackbox.schemas.net.Octets;
import blackbox.schemas.net.TcpHeader;
import io.netty.channel.Channel;
import io.netty.util.collection.LongObjectHashMap;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;

/// All TCP connections of a guest. Owned by the loop.
///
/// Sequence numbers begin at random. RFC 6528 wants them to grow per flow besides, so that octets of an earlier
/// connection that are still on their way are recognized; on this link none are.
final class TcpTable {
    private static final int SYN = TcpHeader.SYN;
    private static final int RST = TcpHeader.RST;
    private static final int ACK = TcpHeader.ACK;

    private final Channel link;
    private final FrameSink frames;
    private final StackSettings settings;
    private final FlowHandler handler;
    private final Findings findings;
    private final LongSupplier clock;
    private final BufferBudget budget;
    private final TcpConnection.Limits limits;
    private final SecureRandom random = new SecureRandom();
    private final TcpFrame frame;
    private final PacketSender packets;

    private final LongObjectHashMap<TcpEntry> entries = new LongObjectHashMap<>();
    /// Those that are not open yet, the oldest first.
    private final LinkedHashSet<TcpEntry> opening = new LinkedHashSet<>();
    /// Those that have octets to send, and wait for the machine to take frames.
    private final Set<TcpEntry> blocked = new LinkedHashSet<>();
    private final List<TcpEntry> toAcknowledge = new ArrayList<>();
    private final ArrayDeque<GuestTcpChannel> toDeliver = new ArrayDeque<>();
    private boolean scheduled;

    TcpTable(
            Channel link,
            FrameSink frames,
            PacketSender packets,
            StackSettings settings,
            FlowHandler handler,
            Findings findings,
            LongSupplier clock) {
        this.link = link;
        this.frames = frames;
        this.settings = settings;
        this.handler = handler;
        this.findings = findings;
        this.clock = clock;
        this.budget = new BufferBudget(settings.bufferedOctetsMax());
        this.frame = new TcpFrame(settings);
        this.packets = packets;
        this.limits = new TcpConnection.Limits(
                settings.openingMax().toNanos(),
                settings.closingMax().toNanos(),
                settings.idleMax().toNanos());
    }

    int inFlightMax() {
        return budget.inFlightMax(entries.size());
    }

    BufferBudget budget() {
        return budget;
    }

    long nowNs() {
        return clock.getAsLong();
    }

    int size() {
        return entries.size();
    }

    String guest() {
        return settings.guest();
    }

    Channel link() {
        return link;
    }

    FrameSink frames() {
        return frames;
    }

    TcpFrame frame() {
        return frame;
    }

    TcpConnection.Limits limits() {
        return limits;
    }

    long openingMaxNs() {
        return limits.openingNs();
    }

    int firstSequence() {
        return random.nextInt();
    }

    /// Takes a packet from the guest's address: the first `length` octets of an array that stays the caller's.
    void take(byte[] octets, int length, IpHeader ip) {
        TcpHeader segment = TcpHeader.of(octets, ip.payloadAt(), ip.end());
        if (segment == null || !isSensible(segment)) {
            findings.found(Finding.MALFORMED, "a TCP segment that contradicts itself");
            return;
        }
        int remote = Octets.u32(octets, ip.destinationAt());
        long key = (long) remote << 32 | (long) segment.sourcePort() << 16 | segment.destinationPort();
        TcpEntry entry = entries.get(key);
        boolean opens = is(segment, SYN) && !is(segment, ACK);
        if (opens && (entry == null || entry.makesRoomFor(segment))) {
            SynOptions options = SynOptions.of(octets, ip.payloadAt(), segment.payloadAt());
            byte[] quoted = Arrays.copyOf(octets, Math.min(length, segment.payloadAt()));
            open(new TcpEntry(this, key, segment, options, quoted), quoted);
        } else if (entry == null) {
            resetStranger(remote, segment, ip.end());
        } else {
            entry.take(segment, octets, ip.end());
        }
    }

    private static boolean isSensible(TcpHeader segment) {
        return segment.isWellFormed()
                && segment.sourcePort() != 0
                && segment.destinationPort() != 0
                && !(is(segment, SYN) && is(segment, RST | TcpHeader.FIN));
    }

    private void open(TcpEntry entry, byte[] quoted) {
        if (entries.size() >= settings.connectionsMax()) {
            findings.found(Finding.CONNECTIONS_REFUSED, "more than " + settings.connectionsMax() + " at once");
            entry.answer(Refusal.UNREACHABLE, quoted);
            return;
        }
        if (opening.size() >= settings.halfOpenMax()) {
            TcpEntry oldest = opening.getFirst();
            findings.found(Finding.HALF_OPEN_DROPPED, "more than " + settings.halfOpenMax() + " at once");
            oldest.end(How.EVICTED);
        }
        entries.put(entry.key(), entry);
        opening.add(entry);
        handler.opening(entry);
    }

    void isOpen(TcpEntry entry) {
        opening.remove(entry);
    }

    void remove(TcpEntry entry) {
        entries.remove(entry.key(), entry);
        opening.remove(entry);
        blocked.remove(entry);
    }

    /// Whether the machine takes frames; otherwise the connection is pumped once it does.
    boolean isReady(TcpEntry entry) {
        if (frames.isReady()) {
            return true;
        }
        blocked.add(entry);
        return false;
    }

    void acknowledgeSoon(TcpEntry entry) {
        toAcknowledge.add(entry);
        flushSoon();
    }

    void unreachable(byte[] quoted, Refusal why) {
        packets.unreachable(quoted, quoted.length, why);
    }

    /// Answers what belongs to no connection (RFC 9293 section 3.10.7.1).
    private void resetStranger(int remote, TcpHeader segment, int end) {
        if (is(segment, RST)) {
            return;
        }
        boolean acknowledges = is(segment, ACK);
        int length = end - segment.payloadAt() + (is(segment, SYN) ? 1 : 0) + (is(segment, TcpHeader.FIN) ? 1 : 0);
        frame.ports(remote, segment.destinationPort(), segment.sourcePort());
        frame.numbers(acknowledges ? segment.acknowledgement() : 0, acknowledges ? 0 : segment.sequence() + length, 0);
        frame.send(acknowledges ? RST : RST | ACK, 0, false, 0, frames);
    }

    /// Does what is due; called several times a second.
    void tick() {
        if (!entries.isEmpty()) {
            long now = nowNs();
            for (TcpEntry entry : entries.values().toArray(new TcpEntry[0])) {
                entry.tick(now);
            }
            flushSoon();
        }
    }

    /// The machine takes frames again.
    void resume() {
        if (!blocked.isEmpty()) {
            var ready = List.copyOf(blocked);
            blocked.clear();
            ready.forEach(TcpEntry::pump);
            flushSoon();
        }
    }

    void deliverSoon(GuestTcpChannel channel) {
        toDeliver.add(channel);
        flushSoon();
    }

    /// Has a batch end before the loop waits.
    void flushSoon() {
        if (!scheduled) {
            scheduled = true;
            link.eventLoop().execute(() -> {
                try {
                    endBatch();
                } catch (RuntimeException | Error e) {
                    link.pipeline().fireExceptionCaught(e); // a fault of ours: the guest chose the frames
                }
            });
        }
    }

    /// Hands on what a batch of frames brought, and answers it.
    void endBatch() {
        scheduled = false;
        // What one of them causes, even for itself, comes after the loop has looked at everything else.
        for (int left = toDeliver.size(); left > 0; left--) {
            toDeliver.removeFirst().deliver();
        }
        var due = List.copyOf(toAcknowledge);
        toAcknowledge.clear();
        due.forEach(TcpEntry::acknowledge);
        if (!toDeliver.isEmpty() || !toAcknowledge.isEmpty()) {
            flushSoon();
        }
        frames.flush();
    }

    /// Ends everything.
    void close() {
        for (TcpEntry entry : entries.values().toArray(new TcpEntry[0])) {
            entry.end(How.GATEWAY_CLOSED);
        }
        frames.flush();
    }

    private static boolean is(TcpHeader segment, int flags) {
        return (segment.flags() & flags) != 0;
    }
}
