package blackbox.schemas.view;

import blackbox.schemas.row.Column;
import blackbox.schemas.row.Text;
import org.jspecify.annotations.Nullable;

/// What the hypervisor reported, and what is stored beside the events.
public abstract sealed class VmView extends EventView {

    VmView() {}

    /// More about it, as one JSON object.
    public final @Nullable Text detail() {
        return text(Column.DETAIL);
    }

    /// `vm.lifecycle`.
    public static final class Lifecycle extends VmView {
        Lifecycle() {}

        /// QMP's name of the event.
        public @Nullable Text what() {
            return text(Column.WHAT);
        }
    }

    /// `vm.capture`: a segment of a file that the host stores.
    public static final class Capture extends VmView {
        Capture() {}

        /// The file's name.
        public @Nullable Text file() {
            return text(Column.WHAT);
        }
    }
}
