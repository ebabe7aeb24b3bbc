package blackbox.query.brief;

import blackbox.query.answer.Programs;
import blackbox.query.answer.Touched;
import blackbox.query.run.RunFacts;
import blackbox.query.run.SealedCommand;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.FileEffect;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.PrivilegeView;
import blackbox.schemas.view.ProcessId;
import blackbox.schemas.view.ProcessView;
import blackbox.schemas.view.RecorderView;
import blackbox.schemas.view.RunView;
import blackbox.schemas.view.VmView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Gathers a [Brief] while somebody reads all rows of a run. Owned by one thread.
public final class BriefCollector {

    private static final int READ_MAX = 100_000;
    private static final String WORKSPACE = "/workspace/";
    private static final List<String> KERNEL = List.of("/proc/", "/sys/", "/dev/", "proc[", "sysfs[");
    private static final List<String> OF_THE_SYSTEM =
            List.of("/usr/", "/lib", "/bin/", "/sbin/", "/proc/", "/sys/", "/dev/", "proc[", "sysfs[");
    private static final Set<String> HARMLESS =
            Set.of("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/urandom", "/dev/random");
    private static final List<String> FOLDED =
            List.of("/.git/", "/node_modules/", "/__pycache__/", "/.venv/", "/site-packages/", "/.cache/", "/.npm/");

    private final Programs programs = new Programs();
    private final FileChanges files = new FileChanges();
    private final Notables notables = new Notables();
    private final Contacts contacts = new Contacts();
    private final Set<String> readOutside = new LinkedHashSet<>();
    private final Set<ProcessId> processes = new HashSet<>();
    private final TreeMap<String, Long> executed = new TreeMap<>();
    private long readUnkept;
    private long agent;
    private long supervisor;
    private long host;

    /// Takes the next event.
    public void see(EventView event, long index) {
        count(event);
        switch (event) {
            case ProcessView process -> process(process);
            case FileView file -> file(file, index);
            case NetView net -> contacts.see(net, programs.name(net));
            case PrivilegeView _, RecorderView _, VmView _, RunView _, EventView.Unknown _ -> {}
        }
    }

    private void count(EventView event) {
        if (event.isByHost()) {
            host++;
        } else if (event.isBySupervisor() || event instanceof RecorderView) {
            supervisor++;
        } else {
            agent++;
        }
    }

    private void process(ProcessView event) {
        programs.see(event);
        ProcessId id = event.process();
        if (event instanceof ProcessView.Exec exec && !exec.failed() && !exec.isBySupervisor() && id != null) {
            String name = Programs.lastName(exec.exe());
            executed.merge(name == null ? "?" : name, 1L, Long::sum);
            processes.add(id);
        }
    }

    private void file(FileView file, long index) {
        Text named = file.path();
        String path = named == null ? null : programs.absolute(file, named.toString());
        if (path != null && isHarmless(path)) {
            return;
        }
        files.see(file, programs.name(file));
        if (file.isBySupervisor()) {
            return;
        }
        notables.see(file, path, programs.who(file), index);
        boolean isRead = file.effects().contains(FileEffect.READS);
        if (path != null && isRead && isOutside(path)) {
            if (readOutside.size() < READ_MAX) {
                readOutside.add(path);
            } else if (!readOutside.contains(path)) {
                readUnkept++;
            }
        }
    }

    /// Files that every program writes to, and that writing does not change.
    private static boolean isHarmless(String path) {
        return HARMLESS.contains(path) || path.startsWith("/dev/pts/");
    }

    private static boolean isOutside(String path) {
        return FileView.isFile(path)
                && !path.startsWith(WORKSPACE)
                && !path.startsWith("/etc/ld.so")
                && OF_THE_SYSTEM.stream().noneMatch(path::startsWith);
    }

    /// What was gathered.
    ///
    /// @param touched the agent's acts, as they are listed elsewhere
    /// @param limits what may not have been seen of the whole run
    public Brief brief(RunFacts facts, Touched touched, List<String> limits) {
        var changes = new ArrayList<>(files.changes());
        changes.sort(Comparator.comparingInt((FileChange each) -> rank(each.path())));
        var all = new ArrayList<>(limits);
        long unkept = files.unkept() + notables.unkept() + readUnkept;
        if (unkept > 0) {
            all.add("not all of so many files are listed: " + unkept + " events named others");
        }
        return new Brief(
                command(facts),
                ended(facts),
                notables.notables(touched, BriefCollector::isHarmless),
                contacts.contacts(touched.egress()),
                changes,
                files.folders(),
                List.copyOf(readOutside),
                processes.size(),
                executed,
                new Brief.Events(agent, supervisor, host),
                all);
    }

    private static List<String> command(RunFacts facts) {
        RunFacts.Start start = facts.start();
        return start == null ? List.of() : SealedCommand.of(start.detail());
    }

    private static @Nullable String ended(RunFacts facts) {
        RunFacts.End end = facts.end();
        if (end == null) {
            return facts.state().name().toLowerCase(Locale.ROOT);
        }
        if (end.exitCode() != null) {
            return "exit " + end.exitCode();
        }
        return end.signal() != null
                ? "signal " + end.signal()
                : end.detail().path("ended").asText("ended");
    }

    /// The kernel's own files are the most important, then those outside the workspace; what programs keep
    /// for themselves is the least.
    static int rank(String path) {
        if (KERNEL.stream().anyMatch(path::startsWith)) {
            return 0;
        }
        if (folder(path) != null) {
            return 4;
        }
        return path.startsWith(WORKSPACE) ? 3 : path.startsWith("/tmp/") ? 2 : 1;
    }

    /// The folder in which a program keeps files of its own, such as `/workspace/.git`, or null.
    static @Nullable String folder(String path) {
        for (String each : FOLDED) {
            int at = path.indexOf(each);
            if (at >= 0) {
                return path.substring(0, at + each.length() - 1);
            }
        }
        return null;
    }
}
