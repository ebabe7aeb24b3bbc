package blackbox.query.answer;

import blackbox.evidence.text.Printable;
import blackbox.query.calls.BudgetUse;
import blackbox.query.calls.CallsText;
import blackbox.query.sides.GuestAndHostText;
import blackbox.schemas.row.Text;
import java.io.PrintWriter;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/// [Touched] as text for people.
public final class TouchedText {

    private static final int COMMAND_CHARS_MAX = 120;

    private TouchedText() {}

    /// Prints the parts that are wanted, and the limits.
    public static void print(PrintWriter out, Touched touched, Set<TouchedPart> parts) {
        parts(out, touched, parts);
        limits(out, "What may not have been seen", touched.limits());
    }

    /// Prints the parts that are wanted for each container, and the limits.
    public static void print(PrintWriter out, ContainerCollector.Containers containers, Set<TouchedPart> parts) {
        for (ContainerCollector.Part each : containers.parts()) {
            out.println(heading(each));
            parts(out, each.touched(), parts);
            if (!each.touched().limits().isEmpty()) {
                limits(out, "What may not have been seen of it", each.touched().limits());
            }
            out.println();
        }
        limits(out, "What may not have been seen", containers.limits());
    }

    private static String heading(ContainerCollector.Part part) {
        ContainerCollector.Id id = part.id();
        if (id == null) {
            return "== Outside of containers, and what belongs to no process";
        }
        String program = part.program() == null ? "no program executed" : Printable.of(part.program());
        if (id.isUnknown()) {
            return "== In several containers, or not known in which: %s, from event %d".formatted(program, part.from());
        }
        return "== Container %s: %s, root %s%s, from event %d"
                .formatted(
                        id.numbers().stream().map(String::valueOf).collect(Collectors.joining("+")),
                        program,
                        id.root() == null ? "not known" : Printable.of(String.valueOf(id.root())),
                        id.chroot() == null ? "" : ", chroot " + Printable.of(String.valueOf(id.chroot())),
                        part.from());
    }

    private static void parts(PrintWriter out, Touched touched, Set<TouchedPart> parts) {
        for (TouchedPart part : parts) {
            switch (part) {
                case FILES -> {
                    files(out, touched.files());
                    refused(out, touched.refused());
                }
                case PROCESSES -> processes(out, touched.processes());
                case EGRESS -> {
                    egress(out, touched.egress());
                    decisions(out, touched.decisions());
                    requests(out, touched.requests());
                    secrets(out, touched.secrets());
                    budgets(out, touched.budgets());
                    GuestAndHostText.write(out, touched.sides());
                    touched.linkLayer()
                            .forEach(link -> out.printf(
                                    "  %s  %d out, %d in  host only, without addresses%n",
                                    Printable.of(link.protocol()),
                                    link.onWire().out(),
                                    link.onWire().in()));
                }
                case PRIVILEGES -> privileges(out, touched.privileges());
                case CALLS -> {
                    if (parts.size() == 1 || !touched.calls().isEmpty()) { // most runs have no gateway
                        CallsText.print(out, touched.calls());
                    }
                    if (!parts.contains(TouchedPart.EGRESS)) {
                        requests(out, touched.requests());
                    }
                }
            }
        }
    }

    private static void limits(PrintWriter out, String heading, List<String> limits) {
        out.println(heading + (limits.isEmpty() ? ": nothing known" : ""));
        limits.forEach(limit -> out.println("  - " + Printable.of(limit)));
    }

    private static void files(PrintWriter out, List<Touched.FileUse> files) {
        out.println("Files (" + files.size() + ")");
        for (Touched.FileUse file : files) {
            out.printf(
                    "  %-7s %12d read %12d written  %s%n",
                    letters(file.deeds()),
                    file.bytesRead(),
                    file.bytesWritten(),
                    Printable.of(file.path().toString())
                            + (file.renamedTo() == null
                                    ? ""
                                    : " -> " + Printable.of(String.valueOf(file.renamedTo()))));
        }
        if (!files.isEmpty()) {
            out.println("  (r read, w written, c created, d deleted or renamed, a attributes, m mapped for writing)");
        }
    }

    private static String letters(Touched.FileDeeds deeds) {
        return (deeds.read() ? "r" : "-")
                + (deeds.written() ? "w" : "-")
                + (deeds.created() ? "c" : "-")
                + (deeds.deleted() ? "d" : "-")
                + (deeds.attributes() ? "a" : "-")
                + (deeds.mapped() ? "m" : "-");
    }

    private static String times(long count) {
        return count == 1 ? "once" : count + " times";
    }

    private static void refused(PrintWriter out, List<Touched.FileRefusal> refused) {
        out.println("Refused (" + refused.size() + ")");
        for (Touched.FileRefusal each : refused) {
            out.printf(
                    "  %-6s %s %s  by %s  %s, first at event %d%n",
                    each.error(),
                    each.act(),
                    Printable.of(each.path()),
                    Printable.of(each.by() == null ? "?" : each.by()),
                    times(each.count()),
                    each.index());
        }
    }

    private static String without(Touched.ProgramRun process) {
        return process.moved()
                ? "came here with its program"
                : process.forked() ? "forked, continued with its parent's program" : "running before";
    }

    private static void processes(PrintWriter out, List<Touched.ProgramRun> processes) {
        out.println("Programs (" + processes.size() + ")");
        for (Touched.ProgramRun process : processes) {
            String ended = process.end().signal() != null
                    ? "signal " + process.end().signal()
                    : process.end().exitCode() != null ? "exit " + process.end().exitCode() : "";
            List<Text> argv = process.argv();
            String command = argv == null
                    ? "(" + without(process) + ")"
                    : ShownCommand.of(argv.stream().map(Text::toString).toList(), COMMAND_CHARS_MAX);
            out.printf(
                    "  %7d %7s  %-9s %s  %s%n",
                    process.pid(),
                    process.ppid() == null ? "?" : process.ppid(),
                    ended,
                    Printable.of(process.exe() == null ? "?" : String.valueOf(process.exe())),
                    Printable.of(command));
        }
    }

    private static void egress(PrintWriter out, List<Touched.Flow> flows) {
        out.println("Network (" + flows.size() + ")");
        for (Touched.Flow flow : flows) {
            String seen = flow.guest() != null && flow.onWire() != null
                    ? "guest+host"
                    : flow.guest() != null ? "guest only" : "host only";
            out.printf(
                    "  %-4s %s:%s %s  %d out, %d in  %s%s%n",
                    Printable.of(flow.protocol()),
                    Printable.of(flow.remoteIp()),
                    flow.remotePort() == null ? "?" : flow.remotePort(),
                    Printable.of(flow.host() == null ? "" : flow.host()),
                    flow.bytesOut(),
                    flow.bytesIn(),
                    seen,
                    flow.failedWith() == null ? "" : "  failed with errno " + -flow.failedWith());
        }
    }

    private static void decisions(PrintWriter out, List<Touched.EgressDecision> decisions) {
        if (decisions.isEmpty()) {
            return; // most runs have no gateway
        }
        out.println("Egress decisions (" + decisions.size() + ")");
        for (Touched.EgressDecision each : decisions) {
            out.printf(
                    "  %-10s %-7s %s %s%s  %s  %s, first at event %d%n",
                    Printable.of(each.verdict()),
                    Printable.of(each.stage() == null ? "?" : each.stage()),
                    Printable.of(each.protocol()),
                    Printable.of(each.to()),
                    each.port() == null ? "" : ":" + each.port(),
                    Printable.of(each.reason() == null ? "" : each.reason()),
                    times(each.count()),
                    each.index());
        }
    }

    private static void requests(PrintWriter out, List<Touched.HttpRequest> requests) {
        if (requests.isEmpty()) {
            return;
        }
        out.println("HTTP requests (" + requests.size() + ")");
        for (Touched.HttpRequest each : requests) {
            out.printf(
                    "  %-7s %s  %s, %s  %d out, %d in  %s, first at event %d%n",
                    Printable.of(each.method()),
                    Printable.of(each.url()),
                    each.status() == 0 ? "no answer" : each.status(),
                    Printable.of(each.ending()),
                    each.octets().out(),
                    each.octets().in(),
                    times(each.count()),
                    each.index());
        }
    }

    private static void secrets(PrintWriter out, List<Touched.SecretUse> secrets) {
        if (secrets.isEmpty()) {
            return;
        }
        out.println("Secrets (" + secrets.size() + ")");
        for (Touched.SecretUse each : secrets) {
            out.printf(
                    "  %s  %s  %s, in %s  %s, first at event %d%n",
                    Printable.of(each.secret()),
                    Printable.of(each.how()),
                    Printable.of(each.to() + (each.port() == null ? "" : ":" + each.port())),
                    Printable.of(String.valueOf(each.place())),
                    times(each.count()),
                    each.index());
        }
    }

    private static void budgets(PrintWriter out, List<BudgetUse> budgets) {
        if (budgets.isEmpty()) {
            return;
        }
        out.println("Budgets (" + budgets.size() + ")");
        for (BudgetUse each : budgets) {
            out.printf(
                    "  %s  %s: %s of %s spent%s%n",
                    Printable.of(each.rule()),
                    Printable.of(each.limit()),
                    each.amount(each.spent()),
                    each.amount(each.most()),
                    each.estimated() == 0 ? "" : ", estimated for " + times(each.estimated()));
        }
    }

    private static void privileges(PrintWriter out, List<Touched.PrivilegeUse> privileges) {
        out.println("Privileges (" + privileges.size() + ")");
        for (Touched.PrivilegeUse use : privileges) {
            out.printf(
                    "  %s %s  by %s  %s, first at event %d%s%n",
                    Printable.of(use.what()),
                    Printable.of(use.subject() == null ? "" : use.subject()),
                    Printable.of(use.comm() == null ? "?" : use.comm()),
                    times(use.count()),
                    use.index(),
                    use.refused() ? "  (refused)" : "");
        }
    }
}
