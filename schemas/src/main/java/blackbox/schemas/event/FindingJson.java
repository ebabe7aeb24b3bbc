package blackbox.schemas.event;

import blackbox.schemas.event.FindingDetail.CaptureFailed;
import blackbox.schemas.event.FindingDetail.ClockSetBack;
import blackbox.schemas.event.FindingDetail.CredUnreadable;
import blackbox.schemas.event.FindingDetail.DnsUnreadable;
import blackbox.schemas.event.FindingDetail.EgressNoticed;
import blackbox.schemas.event.FindingDetail.FramesUnreadable;
import blackbox.schemas.event.FindingDetail.GuestBack;
import blackbox.schemas.event.FindingDetail.GuestSilent;
import blackbox.schemas.event.FindingDetail.GuestStreamBroken;
import blackbox.schemas.event.FindingDetail.LimitReached;
import blackbox.schemas.event.FindingDetail.MalformedFrame;
import blackbox.schemas.event.FindingDetail.SequenceImpossible;
import blackbox.schemas.event.FindingDetail.SequenceRepeated;
import blackbox.schemas.event.FindingDetail.SidesDiffer;
import blackbox.schemas.event.FindingDetail.TracerEnded;
import blackbox.schemas.event.FindingDetail.TracerUnfinished;
import blackbox.schemas.event.FindingDetail.UnknownFrame;
import java.util.function.Function;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// The detail of a `recorder.finding` as it is stored (`schemas/events.md`): written and read only here.
public final class FindingJson {

    private static final String SINCE_NS = "sinceNs";
    private static final String HEARD_NS = "heardNs";
    private static final String STATUS = "status";
    private static final String FROZEN_AFTER_NS = "frozenAfterNs";
    private static final String REASON = "reason";
    private static final String OCTETS_SKIPPED = "octetsSkipped";
    private static final String TYPE = "type";
    private static final String CPU = "cpu";
    private static final String SEQ = "seq";
    private static final String WHERE = "where";
    private static final String BY_NS = "byNs";
    private static final String LIMIT = "limit";
    private static final String WHAT = "what";
    private static final String COUNT = "count";
    private static final String PROTOCOL = "protocol";
    private static final String LOCAL = "local";
    private static final String REMOTE = "remote";
    private static final String HOST = "host";
    private static final String SAID = "said";
    private static final String GUEST_EVENT = "guestEvent";
    private static final String HOST_EVENT = "hostEvent";
    private static final String UNKNOWN = "unknown";

    private FindingJson() {}

    /// One JSON object without spaces, or null where the finding says it all.
    public static @Nullable String write(FindingDetail detail) {
        FlatJson json = switch (detail) {
            case GuestSilent d -> FlatJson.of(SINCE_NS, d.sinceNs());
            case GuestBack d -> FlatJson.of(SINCE_NS, d.sinceNs());
            case TracerUnfinished d -> FlatJson.of(HEARD_NS, d.heardNs());
            case TracerEnded d -> FlatJson.of(STATUS, d.status()).and(FROZEN_AFTER_NS, d.frozenAfterNs());
            case GuestStreamBroken d -> FlatJson.of(REASON, d.reason());
            case MalformedFrame d -> FlatJson.of(OCTETS_SKIPPED, d.octetsSkipped());
            case UnknownFrame d -> FlatJson.of(TYPE, d.type());
            case SequenceRepeated d -> FlatJson.of(CPU, d.cpu()).and(SEQ, d.seq());
            case SequenceImpossible d -> FlatJson.of(CPU, d.cpu()).and(SEQ, d.seq());
            case DnsUnreadable _, CredUnreadable _ -> null;
            case FramesUnreadable d -> FlatJson.of(WHERE, d.where());
            case CaptureFailed d -> FlatJson.of(WHERE, d.where());
            case ClockSetBack d -> FlatJson.of(BY_NS, d.byNs());
            case EgressNoticed d -> FlatJson.of(WHAT, d.what()).and(COUNT, d.count());
            case LimitReached d -> FlatJson.of(LIMIT, d.limit()).and(COUNT, d.count());
            case SidesDiffer d ->
                FlatJson.of(PROTOCOL, d.protocol())
                        .and(LOCAL, d.local())
                        .and(REMOTE, d.remote())
                        .and(HOST, d.host())
                        .and(SAID, d.said())
                        .and(GUEST_EVENT, d.guestEvent())
                        .and(HOST_EVENT, d.hostEvent())
                        .and(UNKNOWN, d.unknown())
                        .and(COUNT, d.count());
        };
        return json == null ? null : json.toString();
    }

    /// What was noticed; null if the detail is not what [#write] makes for `finding`. Fields that this version
    /// does not know are passed over.
    public static @Nullable FindingDetail read(Finding finding, @Nullable String detail) {
        FlatJson json = detail == null ? FlatJson.empty() : FlatJson.read(detail);
        if (json == null) {
            return null;
        }
        return switch (finding) {
            case GUEST_SILENT -> number(json, SINCE_NS, GuestSilent::new);
            case GUEST_BACK -> number(json, SINCE_NS, GuestBack::new);
            case TRACER_UNFINISHED -> number(json, HEARD_NS, TracerUnfinished::new);
            case TRACER_ENDED ->
                number(json, STATUS, status -> number(json, FROZEN_AFTER_NS, after -> new TracerEnded(status, after)));
            case GUEST_STREAM_BROKEN -> text(json, REASON, GuestStreamBroken::new);
            case MALFORMED_FRAME -> number(json, OCTETS_SKIPPED, MalformedFrame::new);
            case UNKNOWN_FRAME -> number(json, TYPE, UnknownFrame::new);
            case SEQUENCE_REPEATED ->
                number(json, CPU, cpu -> number(json, SEQ, seq -> new SequenceRepeated(cpu, seq)));
            case SEQUENCE_IMPOSSIBLE ->
                number(json, CPU, cpu -> number(json, SEQ, seq -> new SequenceImpossible(cpu, seq)));
            case DNS_UNREADABLE -> new DnsUnreadable();
            case CRED_UNREADABLE -> new CredUnreadable();
            case FRAMES_UNREADABLE -> text(json, WHERE, FramesUnreadable::new);
            case CAPTURE_FAILED -> text(json, WHERE, CaptureFailed::new);
            case CLOCK_SET_BACK -> number(json, BY_NS, ClockSetBack::new);
            case EGRESS_NOTICED ->
                text(json, WHAT, what -> number(json, COUNT, count -> new EgressNoticed(what, count)));
            case LIMIT_REACHED ->
                text(json, LIMIT, limit -> number(json, COUNT, count -> new LimitReached(limit, count)));
            case FLOW_WITHOUT_CONNECT, CONNECT_WITHOUT_FLOW, NAME_NOT_ASKED, SNI_NOT_ADDRESS, SOURCE_FORGED ->
                sidesDiffer(finding, json);
        };
    }

    private static @Nullable FindingDetail sidesDiffer(Finding finding, FlatJson json) {
        String protocol = json.text(PROTOCOL);
        String local = json.text(LOCAL);
        String remote = json.text(REMOTE);
        Long count = json.number(COUNT);
        return protocol == null || local == null || remote == null || count == null
                ? null
                : new SidesDiffer(
                        finding,
                        protocol,
                        local,
                        remote,
                        json.text(HOST),
                        json.text(SAID),
                        json.number(GUEST_EVENT),
                        json.number(HOST_EVENT),
                        json.text(UNKNOWN),
                        count);
    }

    private static @Nullable FindingDetail number(
            FlatJson json, String name, LongFunction<? extends @Nullable FindingDetail> make) {
        Long value = json.number(name);
        return value == null ? null : make.apply(value);
    }

    private static @Nullable FindingDetail text(
            FlatJson json, String name, Function<String, ? extends @Nullable FindingDetail> make) {
        String value = json.text(name);
        return value == null ? null : make.apply(value);
    }
}
