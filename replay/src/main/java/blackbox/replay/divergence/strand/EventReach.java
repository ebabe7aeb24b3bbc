package blackbox.replay.divergence.strand;

import blackbox.replay.divergence.strand.Token.Reach;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.PrivilegeView;
import blackbox.schemas.view.ProcessView;
import blackbox.schemas.view.RecorderView;
import blackbox.schemas.view.RunView;
import blackbox.schemas.view.VmView;
import java.util.List;

/// How far an event's deed reaches.
final class EventReach {

    /// Where nothing is on the guest's disk.
    private static final List<String> ELSEWHERE = List.of("/dev/", "/proc/", "/run/", "/sys/");

    /// Devices that keep nothing, and terminals: what is printed is compared by itself.
    private static final List<String> KEEPING_NOTHING =
            List.of("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/pts/", "/dev/console");

    private static final long EINTR = -4;
    private static final long EAGAIN = -11;
    private static final long EALREADY = -114;

    private EventReach() {}

    static Reach of(EventView event) {
        return switch (event) {
            case FileView.Rename file when !file.failed() && !isGitsIndex(file) -> Reach.EFFECT;
            case FileView file -> ofFile(file);
            case ProcessView.Fork _, ProcessView.Signal _, ProcessView.Container _ -> Reach.PATH;
            case ProcessView.Exec exec -> exec.failed() ? Reach.PATH : Reach.EFFECT;
            case NetView.Call call -> cameToNothing(call) ? Reach.PATH : Reach.EFFECT;
            case ProcessView _, NetView _, PrivilegeView _, RecorderView _, VmView _, RunView _, EventView.Unknown _ ->
                Reach.EFFECT;
        };
    }

    /// Whether a socket's call was only to be tried again, so that no peer could tell. One that was refused,
    /// or is in progress, has reached its peer, and so may a connection whose call was interrupted.
    private static boolean cameToNothing(NetView.Call call) {
        long ret = call.ret();
        return ret == EAGAIN || ret == EALREADY || ret == EINTR && !(call instanceof NetView.Connect);
    }

    private static Reach ofFile(FileView file) {
        Row row = file.row();
        boolean created = file instanceof FileView.Open open && open.created();
        if (!created && (file instanceof FileView.Open || file instanceof FileView.Io) && isKeptNowhere(row)) {
            return Reach.PATH;
        }
        if (file instanceof FileView.Open open && !open.failed() && open.isForWriting() && isDevice(row)) {
            return Reach.EFFECT; // what is written to a device leaves no event
        }
        if (!leavesSomething(file)) {
            return Reach.PATH;
        }
        boolean onDisk = begins(row, "/") && ELSEWHERE.stream().noneMatch(place -> begins(row, place));
        return onDisk ? Reach.DISK : Reach.EFFECT;
    }

    private static boolean isKeptNowhere(Row row) {
        return begins(row, "/dev/") && KEEPING_NOTHING.stream().anyMatch(place -> isIn(row, place));
    }

    /// Whether git puts a new index in place of the old one. It does so also when it has only learnt that
    /// files are as they were, which depends on the second in which these were written.
    private static boolean isGitsIndex(FileView.Rename file) {
        String from = String.valueOf(file.path());
        return from.endsWith("/index.lock") && from.contains("/.git/") && from.equals(file.pathTo() + ".lock");
    }

    private static boolean isDevice(Row row) {
        return begins(row, "/dev/") && !begins(row, "/dev/shm/");
    }

    private static boolean leavesSomething(FileView file) {
        return file.leavesSomething() || file instanceof FileView.ToName named && !named.failed();
    }

    /// Whether the event's path is this one, or below it where it ends with a slash.
    private static boolean isIn(Row row, String place) {
        return begins(row, place) && (place.endsWith("/") || row.length(Column.PATH) == place.length());
    }

    /// Whether the event's path begins like this.
    static boolean begins(Row row, String start) {
        if (!row.has(Column.PATH) || row.length(Column.PATH) < start.length()) {
            return false;
        }
        byte[] array = row.array(Column.PATH);
        int offset = row.offset(Column.PATH);
        for (int i = 0; i < start.length(); i++) {
            if (array[offset + i] != start.charAt(i)) {
                return false;
            }
        }
        return true;
    }
}
