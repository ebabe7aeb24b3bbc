package blackbox.replay.divergence;

import blackbox.replay.divergence.RecordedEvents.Guest;
import blackbox.replay.divergence.cause.RunInputs;
import blackbox.replay.divergence.cause.Side;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/// A deterministic program of processes that run side by side, made from a seed. Running it with another seed
/// gives different process numbers, temporary names, times and turns, but the same deeds.
final class SmallProgram {

    /// One thing that a process does; `id` names it.
    record Step(int id, Sort sort, String text, long number, List<Step> child) {}

    enum Sort {
        EXEC,
        OPEN,
        READ,
        WRITE,
        TEMPORARY,
        UNLINK,
        SPAWN,
        SPAWN_AND_WAIT,
        WAIT_ALL,
        EXIT
    }

    private final Random random;
    private int ids;
    final List<Step> main;

    SmallProgram(long seed) {
        random = new Random(seed);
        main = process(3);
    }

    private SmallProgram(List<Step> main) {
        this.random = new Random(0);
        this.main = main;
    }

    private List<Step> process(int depth) {
        var steps = new ArrayList<Step>();
        int name = ids;
        steps.add(step(Sort.EXEC, "/usr/bin/tool" + name, 0));
        int count = 3 + random.nextInt(12);
        for (int i = 0; i < count; i++) {
            steps.add(any(depth));
        }
        steps.add(step(Sort.WAIT_ALL, "", 0));
        steps.add(step(Sort.EXIT, "", random.nextInt(3)));
        return List.copyOf(steps);
    }

    private Step any(int depth) {
        String path = "/workspace/dir" + random.nextInt(5) + "/file-" + (char) ('a' + random.nextInt(26)) + ids;
        return switch (random.nextInt(depth > 0 ? 8 : 5)) {
            case 0 -> step(Sort.OPEN, path, 0);
            case 1 -> step(Sort.READ, path, 1 + random.nextInt(100_000));
            case 2 -> step(Sort.WRITE, path, 1 + random.nextInt(100_000));
            case 3 -> step(Sort.TEMPORARY, "/tmp/tmp.", 1 + random.nextInt(500));
            case 4 -> step(Sort.UNLINK, path, 0);
            case 5 -> new Step(ids++, Sort.SPAWN_AND_WAIT, "", 0, process(depth - 1));
            default -> new Step(ids++, Sort.SPAWN, "", 0, process(depth - 1));
        };
    }

    private Step step(Sort sort, String text, long number) {
        return new Step(ids++, sort, text, number, List.of());
    }

    int steps() {
        return ids;
    }

    /// The step with that id.
    Step step(int id) {
        return Objects.requireNonNull(find(main, id));
    }

    private static @Nullable Step find(List<Step> steps, int id) {
        for (Step step : steps) {
            if (step.id == id) {
                return step;
            }
            Step within = find(step.child, id);
            if (within != null) {
                return within;
            }
        }
        return null;
    }

    /// The same program with another step in place of one, or without it, or with another before it.
    SmallProgram with(int id, List<Step> instead) {
        return new SmallProgram(replace(main, id, instead));
    }

    private static List<Step> replace(List<Step> steps, int id, List<Step> instead) {
        var changed = new ArrayList<Step>();
        for (Step step : steps) {
            if (step.id == id) {
                changed.addAll(instead);
            } else {
                changed.add(new Step(step.id, step.sort, step.text, step.number, replace(step.child, id, instead)));
            }
        }
        return List.copyOf(changed);
    }

    /// A run: the events, and the index of each step's first event.
    record Run(RecordedEvents events, Map<Integer, Long> indexes) {
        Side side(String name) {
            return new Side(name, events.source(), RunInputs.UNKNOWN);
        }
    }

    /// Runs it; the seed chooses numbers and turns.
    Run run(long seed) {
        var machine = new Machine(seed);
        machine.start(machine.events.init, main);
        machine.run();
        machine.events.close();
        return new Run(machine.events, machine.indexes);
    }

    private static final class Task {
        private final Guest process;
        private final Deque<Step> left;
        private final List<Task> children = new ArrayList<>();
        private @Nullable Task waitsFor;

        Task(Guest process, List<Step> steps) {
            this.process = process;
            this.left = new ArrayDeque<>(steps);
        }

        boolean isDone() {
            return left.isEmpty();
        }

        boolean canRun() {
            Step next = left.peek();
            Task awaited = waitsFor;
            if (next == null || awaited != null && !awaited.isDone()) {
                return false;
            }
            return next.sort != Sort.WAIT_ALL || children.stream().allMatch(Task::isDone);
        }
    }

    private static final class Machine {
        private final RecordedEvents events;
        private final Random random;
        private final List<Task> tasks = new ArrayList<>();
        private final Map<Integer, Long> indexes = new HashMap<>();

        Machine(long seed) {
            events = new RecordedEvents(seed).open();
            random = new Random(seed);
        }

        Task start(Guest parent, List<Step> steps) {
            var task = new Task(events.fork(parent, "tool"), steps);
            tasks.add(task);
            return task;
        }

        void run() {
            while (true) {
                List<Task> ready = tasks.stream().filter(Task::canRun).toList();
                if (ready.isEmpty()) {
                    return;
                }
                if (random.nextInt(20) == 0) {
                    events.hostHeartbeat();
                    events.tracerHeartbeat();
                }
                Task task = ready.get(random.nextInt(ready.size()));
                step(task, task.left.remove());
            }
        }

        private void step(Task task, Step step) {
            Guest process = task.process;
            indexes.put(step.id, events.count());
            switch (step.sort) {
                case EXEC -> events.exec(process, step.text, "--step");
                case OPEN -> events.open(process, step.text);
                case READ -> events.readFile(process, step.text, step.number);
                case WRITE -> events.writeFile(process, step.text, step.number);
                case TEMPORARY -> {
                    String path = step.text + events.newSuffix();
                    events.create(process, path, RecordedEvents.EXCLUSIVE);
                    events.write(process, path, step.number);
                    events.unlink(process, path);
                }
                case UNLINK -> events.unlink(process, step.text);
                case SPAWN -> task.children.add(start(process, step.child));
                case SPAWN_AND_WAIT -> {
                    Task child = start(process, step.child);
                    task.waitsFor = child;
                    task.children.add(child);
                }
                case WAIT_ALL -> {}
                case EXIT -> events.exit(process, (int) step.number);
            }
        }
    }
}
