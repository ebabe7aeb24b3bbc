package blackbox.replay.exact;

import blackbox.evidence.store.RunReader;
import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunOpening;
import blackbox.recorder.guest.TracerReport;
import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.compare.EventTape;
import blackbox.replay.compare.RecordedSide;
import blackbox.replay.divergence.Alignment;
import blackbox.replay.divergence.AlignmentSettings;
import blackbox.replay.divergence.Divergences;
import blackbox.replay.divergence.EffectDifference;
import blackbox.replay.divergence.LeftFiles;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.divergence.cause.Side;
import blackbox.replay.inputs.Argv;
import blackbox.replay.inputs.CheckedInputs;
import blackbox.replay.inputs.SealedStart;
import blackbox.replay.output.OutputMatch;
import blackbox.replay.tier.ReplayRequest;
import blackbox.replay.tier.Replayer;
import blackbox.replay.verdict.ClockOffset;
import blackbox.replay.verdict.Comparison;
import blackbox.replay.verdict.DifferingOctets;
import blackbox.replay.verdict.FirstDivergence;
import blackbox.replay.verdict.Levels;
import blackbox.replay.verdict.Refusal;
import blackbox.replay.verdict.Verdict;
import blackbox.replay.verdict.Verdict.Completion;
import blackbox.schemas.Progress;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.VmException;
import blackbox.vm.machine.MachineSize;
import blackbox.vm.machine.Network;
import blackbox.vm.replay.ReplayMachine;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Replays a run of the exact tier: the same instructions, with everything from outside arriving at the same
/// instruction. What it sends must equal the recording octet for octet.
public final class ExactReplayer implements Replayer {
    private static final String NETWORK_WITHIN_QEMU = "user,id=net,restrict=off";
    private static final String INTERLEAVING = "interleaving";
    private static final Pattern SHIFT = Pattern.compile("shift=([0-9]{1,2}),");

    private final InstantSource wall = InstantSource.system();

    @Override
    public ReplayMethod tier() {
        return ReplayMethod.EXACT;
    }

    @Override
    public Set<String> captures() {
        return CaptureName.texts(CaptureName.EXACT);
    }

    @Override
    public List<Refusal> check(ReplayRequest request) throws ReplayException {
        Refusal machine =
                Argv.compare(request.start().argv(), recording(request).argv(network(request)));
        return machine == null ? List.of() : List.of(machine);
    }

    @Override
    public Verdict replay(ReplayRequest request, Progress progress) throws ReplayException, InterruptedException {
        var run = request.facts().run();
        try (var tape = new EventTape(new DataFolder(request.recordings().data()).cache())) {
            ExactReplay.Result result;
            try {
                result = new ExactReplay(request, recording(request), tape, progress).run(tracerReport(request));
            } catch (ReplayException e) {
                if (e.getCause() instanceof VmException) {
                    return Verdict.failed(run, wall.instant(), ReplayMethod.EXACT, String.valueOf(e.getMessage()));
                }
                throw e;
            }
            String stalled = result.stalled();
            if (stalled != null && result.extent().end()) {
                return Verdict.failed(run, wall.instant(), ReplayMethod.EXACT, stalled);
            }
            Verdict verdict = Verdict.of(
                    run,
                    wall.instant(),
                    ReplayMethod.EXACT,
                    comparison(request, result, align(request, tape)),
                    new Completion(stalled));
            keep(request, verdict, result.printed());
            return verdict;
        } catch (IOException e) {
            throw new ReplayException(Code.ENGINE, "the replay of run " + run + " failed", e);
        }
    }

    /// What differs may be secret: it is encrypted.
    private static void keep(ReplayRequest request, Verdict verdict, @Nullable OutputMatch printed) throws IOException {
        if (printed != null && printed.octets() != null) {
            DifferingOctets.OUTPUT.keep(
                    PayloadKeyFile.vault(new DataFolder(request.recordings().data())), verdict, printed.octets());
        }
    }

    private static Alignment align(ReplayRequest request, EventTape tape) throws IOException, ReplayException {
        Side recorded = RecordedSide.of(request.recordings(), request.facts().run());
        var settings = new AlignmentSettings(AlignmentSettings.CONTEXT_DEFAULT, new SecureRandom().nextLong(), true);
        return Divergences.align(recorded, new Side("replay", tape, recorded.inputs()), LeftFiles.UNKNOWN, settings);
    }

    private static Comparison comparison(ReplayRequest request, ExactReplay.Result result, Alignment alignment) {
        boolean cut = result.stalled() != null;
        var compared = new ArrayList<String>();
        compared.add("events, one by one");
        var notCompared = new ArrayList<>(alignment.notCompared());
        notCompared.add("times of events: the recording has the host's clock, the replay the guest's");
        var found = alignment.firstDivergence();
        FirstDivergence first = cut || found == null ? null : FirstDivergence.of(found);
        var more = new ArrayList<EffectDifference>();
        for (StreamMatch match : result.matches()) {
            if (match.bytes() > 0 || match.fault() != null) {
                compared.add(match.name() + ", " + match.bytes() + " octets");
            }
            String fault = match.fault();
            if (fault != null && cut) {
                notCompared.add(fault);
                continue;
            }
            if (fault != null) {
                more.add(new EffectDifference(EffectDifference.Kind.OTHER, match.name(), "the recorded octets", fault));
            }
            if (fault != null && first == null) {
                first = new FirstDivergence(
                        Math.max(0, request.facts().events() - 1),
                        DivergenceClass.ENGINE,
                        "the recorded octets of " + match.name(),
                        fault,
                        List.of("all inputs are the recorded ones: the engine that executes them behaved differently"),
                        List.of());
            }
        }
        OutputMatch printed = result.printed();
        more.addAll(Levels.of(printed == null ? null : printed.difference()));
        if (first != null && printed != null) {
            first = first.with(printed.difference());
        }
        var rules = new ArrayList<>(cut ? List.of() : alignment.rules());
        if (!cut && result.matches().stream().allMatch(match -> match.fault() == null)) {
            // Each stream equals the recorded one, octet for octet; the order into which a recorder's threads
            // merge them is not the machine's.
            rules.remove(INTERLEAVING);
            notCompared.add("the order in which the recorder merged the guest's events with the network's");
        }
        return new Comparison(rules, compared, notCompared, alignment.comparedEvents(), first, 0)
                .with(cut ? null : clock(result.matches()))
                .with(cut ? Levels.UNKNOWN : Levels.of(alignment.differences(), more, Levels.Extent.ALL));
    }

    /// The guest reports on its control port what its clock showed when the agent started and when it ended.
    private static @Nullable ClockOffset clock(List<StreamMatch> matches) {
        boolean said = matches.stream()
                .anyMatch(each ->
                        each.name().equals(CaptureName.CONTROL.text()) && each.bytes() > 0 && each.fault() == null);
        return said ? ClockOffset.NONE : null;
    }

    public static ReplayMachine.Recording recording(ReplayRequest request) {
        RunOpening.Machine machine = request.facts().opening().machine();
        return recording(
                request.start(),
                request.inputs(),
                machine == null ? MachineSize.DEFAULT : MachineSize.ofRecorded(machine.memoryMib(), machine.vcpus()),
                request.recordings().captureFolder(request.facts().run()));
    }

    /// An exact recording of any origin.
    ///
    /// @param captures the folder with what its machine starts from
    public static ReplayMachine.Recording recording(
            SealedStart start, CheckedInputs inputs, MachineSize size, Path captures) {
        return new ReplayMachine.Recording(
                inputs.image(),
                inputs.qemu(),
                size,
                instructionShift(start.argv()),
                ReplayMachine.Recording.opensRamReadOnly(start.argv()),
                captures,
                inputs.workspace());
    }

    /// As it was given to the recording's QEMU. If it is missing, the command lines differ, and that is
    /// refused.
    private static int instructionShift(List<String> argv) {
        return argv.stream()
                .map(SHIFT::matcher)
                .filter(Matcher::lookingAt)
                .map(found -> Integer.parseInt(found.group(1)))
                .findFirst()
                .orElse(0);
    }

    private static Network network(ReplayRequest request) throws ReplayException {
        String name = String.valueOf(request.facts().opening().agent().network());
        if (request.start().argv().contains(NETWORK_WITHIN_QEMU)) {
            return Network.BUILT_IN;
        }
        return Stream.of(Network.values())
                .filter(each -> each.name().toLowerCase(Locale.ROOT).equals(name))
                .findFirst()
                .orElseThrow(() -> new ReplayException(Code.BAD_INPUT, "there is no network '" + name + "'"));
    }

    /// The tracer's report, which is the run's second event.
    private static TracerReport tracerReport(ReplayRequest request) throws IOException {
        try (RunReader reader =
                RunReader.open(request.recordings(), request.facts().run(), 1)) {
            return reader.next() ? TracerReport.of(RunFacts.detailOf(reader.row())) : TracerReport.NONE;
        }
    }
}
