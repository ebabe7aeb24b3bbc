package blackbox.schemas.view;

import blackbox.schemas.row.Column;
import blackbox.schemas.row.Text;
import org.jspecify.annotations.Nullable;

/// A change or use of privileges.
public abstract sealed class PrivilegeView extends EventView {

    PrivilegeView() {}

    /// `cred.change`. An id that is null before or after was not changed by the call, or is not known.
    public static final class Credentials extends PrivilegeView {
        Credentials() {}

        public @Nullable Long uid() {
            return number(Column.UID);
        }

        public @Nullable Long uidTo() {
            return number(Column.UID_TO);
        }

        public @Nullable Long gid() {
            return number(Column.GID);
        }

        public @Nullable Long gidTo() {
            return number(Column.GID_TO);
        }

        /// The effective capabilities that were gained, as a mask.
        public long capabilitiesGained() {
            return count(Column.CAPS_TO) & ~count(Column.CAPS);
        }
    }

    /// `privilege.use`: a privileged interface was used.
    public static final class Use extends PrivilegeView {
        Use() {}

        /// Which one: `ptrace`, `mount`, `module`, `bpf`, ….
        public @Nullable Text what() {
            return text(Column.WHAT);
        }

        public @Nullable Text path() {
            return text(Column.PATH);
        }
    }
}
