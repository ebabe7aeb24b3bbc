package blackbox.replay.seek;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.PrivilegeView;
import blackbox.schemas.view.ProcessId;
import blackbox.schemas.view.ProcessView;
import blackbox.schemas.view.RecorderView;
import blackbox.schemas.view.RunView;
import blackbox.schemas.view.VmView;
import java.io.IOException;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The processes alive at an event, by the recorded events up to it. Those whose events the tracer lost are not
/// among them.
public final class LiveProcesses {

    private LiveProcesses() {}

    /// By process id: the program, or the name if no program is known.
    public static SortedMap<Long, String> at(Recordings recordings, RunId run, long index) throws IOException {
        var live = new TreeMap<Long, String>();
        var views = new EventViews();
        try (RunReader reader = RunReader.open(recordings, run, 0)) {
            while (reader.next() && reader.index() <= index) {
                EventView event = views.of(reader.row());
                ProcessId process = event.process();
                if (process != null) {
                    take(live, event, process.pid());
                }
            }
        }
        return live;
    }

    private static void take(SortedMap<Long, String> live, EventView event, long pid) {
        switch (event) {
            case ProcessView.Exec exec -> {
                if (!exec.failed()) {
                    live.put(pid, name(exec.exe(), exec));
                }
            }
            case ProcessView.Running running -> live.put(pid, name(running.exe(), running));
            case ProcessView.Fork fork -> live.put(pid, name(null, fork));
            case ProcessView.Exit _ -> live.remove(pid);
            case ProcessView.Signal _,
                    ProcessView.Container _,
                    FileView _,
                    NetView _,
                    PrivilegeView _,
                    RecorderView _,
                    VmView _,
                    RunView _,
                    EventView.Unknown _ -> {}
        }
    }

    private static String name(@Nullable Text program, EventView event) {
        Text known = program == null ? event.comm() : program;
        return known == null ? "?" : known.toString();
    }
}
