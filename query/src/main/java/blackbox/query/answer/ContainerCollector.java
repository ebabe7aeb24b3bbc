package blackbox.query.answer;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.query.run.RunFacts;
import blackbox.query.sides.GuestAndHost;
import blackbox.schemas.RunId;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.ProcessId;
import blackbox.schemas.view.ProcessView;
import blackbox.schemas.view.RecorderView;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Gathers what a run touched for each of its containers. Every event says in which it was done, as the guest's
/// kernel had it at that moment. Whatever made it (bubblewrap, crun, unshare, chroot), a container is a namespace of
/// mounts other than that of the agent's first processes, or a root of its own in one. What was done outside of all
/// comes first, with what belongs to no process.
public final class ContainerCollector {

    /// What is asked for to know what each container is.
    private static final Set<Column> OF_CONTAINERS =
            EnumSet.of(Column.KIND, Column.CONTAINER, Column.PATH, Column.DETAIL);

    /// The part of the tracer that tells containers apart.
    private static final String TELLING = "container.c";

    /// Outside of all.
    private static final Container OUTSIDE = new Container(0, 0);

    /// A container.
    ///
    /// @param sequence the kernel's number of its namespace of mounts, which is never given again
    /// @param number the one that its events have; 0 if its root is its namespace's own
    private record Container(long sequence, long number) {}

    /// What was touched in one container.
    ///
    /// @param id null outside of all
    /// @param from the index of the first event in it
    /// @param program the first program that was executed in it, or null if none was
    /// @param touched with the limits of this container alone
    public record Part(@Nullable Id id, long from, @Nullable String program, Touched touched) {}

    /// Which container it is; null is what is not known of it.
    ///
    /// @param numbers those that its events have
    /// @param mountSequence the kernel's number of its namespace of mounts, which is never given again
    /// @param mountNamespace the number by which programs in the guest see that
    /// @param chroot its root's path as its processes see it, if it is not the root of its namespace
    /// @param root its root as the agent's first processes see it, the last if it changed
    public record Id(
            List<Long> numbers,
            @Nullable Long mountSequence,
            @Nullable Long mountNamespace,
            @Nullable Text chroot,
            @Nullable Text root) {
        public Id {
            numbers = List.copyOf(numbers);
        }

        /// Whether it stands for acts of which it is not known in which one container they were done.
        public boolean isUnknown() {
            return numbers.contains((long) GuestOrigin.CONTAINER_UNKNOWN);
        }
    }

    /// The containers of a run, by their first events, and what may not have been seen in the whole run.
    public record Containers(List<Part> parts, List<String> limits) {
        public Containers {
            parts = List.copyOf(parts);
            limits = List.copyOf(limits);
        }
    }

    private static final class Group {
        private final Acts acts;
        private final long from;
        private @Nullable String program;

        Group(Acts acts, long from) {
            this.acts = acts;
            this.from = from;
        }
    }

    /// What is the same of a flow whoever saw it.
    private record FlowKey(
            String protocol,
            @Nullable String local,
            String remoteIp,
            @Nullable Integer remotePort) {
        static FlowKey of(Touched.Flow flow) {
            return new FlowKey(flow.protocol(), flow.local(), flow.remoteIp(), flow.remotePort());
        }
    }

    private final Whose whose;
    private final Map<Long, Container> told = new HashMap<>();
    private final Map<Container, Id> ids = new HashMap<>();
    private final LimitCollector limits = new LimitCollector();
    private final Programs programs = new Programs();
    private final ProcessCollector processes = new ProcessCollector(new Room(ProcessCollector.PROGRAMS_MAX));
    private final FlowCollector flows = new FlowCollector(FlowCollector.Rooms.ofOneAnswer());
    private final Acts.Rooms rooms = Acts.Rooms.ofOneAnswer();
    private final Map<Container, Group> groups = new LinkedHashMap<>();
    private final Set<ProcessId> moved = new HashSet<>();
    private long notTold;
    private boolean toldApart;

    private ContainerCollector(Whose whose) {
        this.whose = whose;
        groups.put(OUTSIDE, new Group(new Acts(programs, rooms), 0));
    }

    /// Reads the run twice, as far as it is recorded now.
    public static Containers collect(Recordings recordings, RunId run, Whose whose) throws IOException {
        var collector = new ContainerCollector(whose);
        var views = new EventViews();
        try (RunReader reader = RunReader.open(recordings, run, 0, OF_CONTAINERS)) {
            while (reader.next()) {
                if (views.of(reader.row()) instanceof ProcessView.Container container) {
                    collector.learn(container);
                }
            }
        }
        Set<Column> columns = EnumSet.copyOf(TouchedCollector.READ);
        columns.add(Column.CONTAINER);
        RunFacts facts = TouchedCollector.read(recordings, run, columns, collector::see);
        return collector.containers(facts);
    }

    /// Only what is said first counts: nobody changes later what a number stood for.
    private void learn(ProcessView.Container event) {
        long number = number(event);
        if (number == 0 || told.containsKey(number)) {
            return;
        }
        JsonNode said = RunFacts.detailOf(event.row());
        String seen = said.path("chroot").textValue();
        Long sequence = said.path("mountSequence").isIntegralNumber()
                ? (Long) said.path("mountSequence").longValue()
                : null;
        boolean isWhole = sequence != null && event.root() != null;
        boolean ofOwnRoot = seen != null || !isWhole;
        boolean isOutside = said.path("first").asBoolean() && !ofOwnRoot;
        Container container =
                isOutside ? OUTSIDE : new Container(sequence == null ? 0 : sequence, ofOwnRoot ? number : 0);
        told.put(number, container);
        var numbers = new ArrayList<Long>();
        Id before = ids.get(container);
        if (before != null) {
            numbers.addAll(before.numbers());
        }
        numbers.add(number);
        ids.put(
                container,
                new Id(
                        numbers,
                        sequence,
                        sequence == null ? null : (Long) said.path("mount").longValue(),
                        seen == null ? null : Text.of(seen),
                        event.root()));
    }

    /// Whether a tracer is one that says of each act in which container it was done.
    private static boolean tellsApart(JsonNode ready) {
        return ready.path("sources").has(TELLING)
                || ready.path("tracer").path("sources").has(TELLING);
    }

    private static long number(EventView event) {
        return event.row().has(Column.CONTAINER) ? event.row().number(Column.CONTAINER) : 0;
    }

    private Container container(EventView event) {
        long number = number(event);
        if (number == 0) {
            return OUTSIDE;
        }
        Container known = told.get(number);
        if (known == null) {
            notTold += number == GuestOrigin.CONTAINER_UNKNOWN ? 0 : 1;
            return new Container(0, number);
        }
        return known;
    }

    private void see(EventView event, long index) {
        limits.see(event, index);
        processes.see(event);
        switch (event) {
            case ProcessView.Container container -> learn(container); // of a run that is still recorded
            case ProcessView process -> programs.see(process);
            case RecorderView.TracerReady ready -> toldApart |= tellsApart(RunFacts.detailOf(ready.row()));
            default -> {}
        }
        if (!whose.takes(event)) {
            return;
        }
        flows.see(event);
        if (event instanceof NetView.Flow flow && flow.isByHost()) {
            return; // the host knows of no process: it is joined with what the guest says of the same flow
        }
        Container container = container(event);
        Group group = groups.computeIfAbsent(container, _ -> new Group(new Acts(programs, rooms), index));
        ProcessId process = event.process();
        boolean isFork = event instanceof ProcessView.Fork;
        if (process != null
                && !isFork
                && !container.equals(OUTSIDE)
                && group.acts.processes.arrived(process, processes)) {
            moved.add(process);
        }
        group.acts.see(event, index);
        if (process != null && isFork) {
            group.acts.processes.arrived(process, processes);
        }
        if (event instanceof ProcessView.Exit exit && process != null && moved.remove(process)) {
            endElsewhere(exit, process, group);
        }
        if (group.program == null && event instanceof ProcessView.Exec exec && !exec.failed()) {
            group.program = Programs.lastName(exec.exe());
        }
    }

    /// A process that has moved ends everywhere where it has been.
    private void endElsewhere(ProcessView.Exit exit, ProcessId process, Group there) {
        for (Group group : groups.values()) {
            if (group != there && group.acts.processes.knows(process)) {
                group.acts.processes.see(exit);
            }
        }
    }

    private Containers containers(RunFacts facts) {
        var wire = new LinkedHashMap<FlowKey, Touched.Flow>();
        flows.flows().forEach(flow -> wire.put(FlowKey.of(flow), flow));
        var owners = new HashMap<FlowKey, Integer>();
        var owned = new HashMap<Container, List<Touched.Flow>>();
        groups.forEach((container, group) -> {
            List<Touched.Flow> own = group.acts.flows.flows();
            own.forEach(flow -> owners.merge(FlowKey.of(flow), 1, Integer::sum));
            owned.put(container, own);
        });
        var parts = new ArrayList<Part>();
        groups.forEach((container, group) -> {
            List<Touched.Flow> own = owned.getOrDefault(container, List.of());
            parts.add(part(
                    container,
                    group,
                    own.stream().map(flow -> joined(flow, wire, owners)).toList()));
        });
        parts.set(0, withTheRest(parts.getFirst(), wire, owners));
        var all = new ArrayList<>(limits.limits(facts));
        all.addAll(flows.limits());
        if (!toldApart) {
            all.add(
                    "the tracer of this recording did not say in which container anything was done: all of it counts as outside");
        }
        if (notTold > 0) {
            all.add(notTold + " events were done in containers of which nothing else is known");
        }
        return new Containers(parts, all);
    }

    /// A process's flow with what the host saw of it, unless several containers have a part in it.
    private static Touched.Flow joined(
            Touched.Flow own, Map<FlowKey, Touched.Flow> wire, Map<FlowKey, Integer> owners) {
        FlowKey key = FlowKey.of(own);
        Touched.Flow seen = wire.getOrDefault(key, own);
        boolean isAlone = owners.getOrDefault(key, 0) == 1;
        return new Touched.Flow(
                own.protocol(),
                own.local(),
                own.remoteIp(),
                own.remotePort(),
                seen.host(),
                own.guest(),
                isAlone ? seen.onWire() : null,
                own.failedWith());
    }

    /// With what the host saw and no single container has.
    private Part withTheRest(Part outside, Map<FlowKey, Touched.Flow> wire, Map<FlowKey, Integer> owners) {
        Touched own = outside.touched();
        var egress = new ArrayList<>(own.egress());
        wire.forEach((key, flow) -> {
            if (flow.onWire() != null && owners.getOrDefault(key, 0) != 1) {
                egress.add(new Touched.Flow(
                        flow.protocol(),
                        flow.local(),
                        flow.remoteIp(),
                        flow.remotePort(),
                        flow.host(),
                        null,
                        flow.onWire(),
                        null));
            }
        });
        return new Part(
                null,
                outside.from(),
                outside.program(),
                new Touched(
                        own.files(),
                        own.refused(),
                        own.processes(),
                        egress,
                        flows.linkLayer(),
                        own.decisions(),
                        own.requests(),
                        own.secrets(),
                        own.budgets(),
                        own.privileges(),
                        own.calls(),
                        own.sides(),
                        own.limits()));
    }

    private Part part(Container container, Group group, List<Touched.Flow> egress) {
        Acts acts = group.acts;
        var own = new ArrayList<String>();
        own.addAll(acts.files.limits());
        own.addAll(acts.refusals.limits());
        own.addAll(acts.processes.limits());
        own.addAll(acts.flows.unkept());
        own.addAll(acts.decisions.limits());
        own.addAll(acts.exchanges.limits());
        own.addAll(acts.secrets.limits());
        own.addAll(acts.budgets.limits());
        own.addAll(acts.privileges.limits());
        own.addAll(acts.calls.limits());
        return new Part(
                container.equals(OUTSIDE)
                        ? null
                        : ids.getOrDefault(container, new Id(List.of(container.number), null, null, null, null)),
                group.from,
                group.program,
                new Touched(
                        acts.files.files(),
                        acts.refusals.refusals(),
                        acts.processes.programs(),
                        egress,
                        acts.flows.linkLayer(),
                        acts.decisions.decisions(),
                        acts.exchanges.requests(),
                        acts.secrets.uses(),
                        acts.budgets.uses(),
                        acts.privileges.privileges(),
                        acts.calls.calls(),
                        GuestAndHost.NOT_COMPARED,
                        own));
    }
}
