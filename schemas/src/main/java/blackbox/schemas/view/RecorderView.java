package blackbox.schemas.view;

import blackbox.schemas.event.Finding;
import blackbox.schemas.event.FindingDetail;
import blackbox.schemas.event.FindingJson;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Text;
import org.jspecify.annotations.Nullable;

/// What the recorder and the guest's tracer report about themselves.
public abstract sealed class RecorderView extends EventView {

    RecorderView() {}

    /// More about it, as one JSON object.
    public final @Nullable Text detail() {
        return text(Column.DETAIL);
    }

    /// `recorder.loss`: events are known to be missing.
    public static final class Loss extends RecorderView {
        Loss() {}

        /// How many.
        public long lost() {
            return count(Column.LOST);
        }

        /// Where: `ring`, `sequence`, `limit`, ….
        public @Nullable Text what() {
            return text(Column.WHAT);
        }
    }

    /// `recorder.heartbeat`: the last leaf of a batch.
    public static final class Heartbeat extends RecorderView {
        Heartbeat() {}
    }

    /// `tracer.heartbeat`.
    public static final class TracerHeartbeat extends RecorderView {
        TracerHeartbeat() {}
    }

    /// `recorder.finding`: something that limits how far the recording can be relied on.
    public static final class Noticed extends RecorderView {
        Noticed() {}

        /// The finding's name.
        public @Nullable Text what() {
            return text(Column.WHAT);
        }

        /// The finding, or null if this version does not know it.
        public @Nullable Finding finding() {
            Text what = what();
            return what == null ? null : Finding.ofName(what.toString());
        }

        /// The finding with what is known about it, or null if this version does not know it or cannot read that.
        public @Nullable FindingDetail known() {
            Finding finding = finding();
            Text detail = detail();
            return finding == null ? null : FindingJson.read(finding, detail == null ? null : detail.toString());
        }

        /// Whether it means that events may be missing; assumed of a finding that is not known.
        public boolean meansMissing() {
            Finding finding = finding();
            return finding == null || finding.meansMissing();
        }
    }

    /// `recorder.alert`: a detection rule held of the events before it.
    public static final class Alert extends RecorderView {
        Alert() {}

        /// The rule's id.
        public @Nullable Text rule() {
            return text(Column.WHAT);
        }
    }

    /// `recorder.rules`: by which detection rules the run is watched, and what they had found at its end.
    public static final class Rules extends RecorderView {
        Rules() {}
    }

    /// `tracer.ready`: which probes are attached.
    public static final class TracerReady extends RecorderView {
        TracerReady() {}
    }
}
