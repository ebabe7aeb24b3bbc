package blackbox.recorder.guest;

import blackbox.recorder.Detail;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.row.Text;
import blackbox.schemas.wire.Frame;
import blackbox.schemas.wire.Tlv;
import blackbox.schemas.wire.TlvType;
import org.jspecify.annotations.Nullable;

/// What a CONTAINER frame says.
final class Containers {

    private Containers() {}

    /// @param root by its name for the agent's first processes
    static Event event(EventHeader header, Frame frame, @Nullable Text root, FrameFields fields, AgentMounts mounts) {
        Detail detail = Detail.empty();
        Tlv said = frame.find(TlvType.CONTAINER);
        Tlv origin = frame.find(TlvType.ORIGIN);
        long mount = said == null ? 0 : said.u32(8);
        if (said != null) {
            detail.and("mountSequence", said.u64(0))
                    .and("mount", mount)
                    .and("user", said.u32(12))
                    .and("pid", said.u32(16))
                    .and("net", said.u32(20));
            if (mount == mounts.agent()) {
                detail.and("first", true);
            }
        }
        Text seen = fields.asSeen("path", root);
        boolean ofOther = origin != null && AgentMounts.Origin.of(origin).namespace() != mount;
        if (seen != null && (ofOther || !seen.toString().equals("/"))) {
            detail.and("chroot", seen.toString());
        }
        return new Event.ProcessContainer(header, root, detail.toString());
    }
}
