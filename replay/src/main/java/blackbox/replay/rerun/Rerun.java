package blackbox.replay.rerun;

import blackbox.evidence.store.Recordings;
import blackbox.gateway.tls.RunAuthority;
import blackbox.query.run.RunFacts;
import blackbox.recorder.RecorderException;
import blackbox.recorder.guest.TracerReport;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.capture.Payload;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.cassette.Cassette;
import blackbox.replay.compare.ComparedOutput;
import blackbox.replay.compare.EventTape;
import blackbox.replay.compare.RecordedSide;
import blackbox.replay.output.RecordedOutput;
import blackbox.replay.output.ReplayedOutput;
import blackbox.schemas.Hash;
import blackbox.schemas.Progress;
import blackbox.schemas.folder.CaptureName;
import blackbox.vm.VmException;
import blackbox.vm.image.GuestImage;
import blackbox.vm.machine.GuestEntropy;
import blackbox.vm.machine.MachineHost;
import blackbox.vm.machine.MachineSize;
import blackbox.vm.workspace.WorkspaceSource;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The re-execution of a run that was recorded live: the same image, snapshot and workspace, the recorded
/// clock and entropy, and as its network only what was recorded. It shows whether the run does the same
/// again; it never claims to be the same execution.
final class Rerun {
    private static final int ENTROPY_BYTES_MAX = 1_024;

    private final Recordings recordings;
    private final RunFacts facts;
    private final RecordedAgent agent;
    private final Map<String, String> environment;
    private final OnMiss onMiss;
    private final MachineHost.Opener hosts;

    /// @param environment values of variables, which recordings do not contain
    /// @param onMiss what to do when something is asked that was not recorded
    /// @param hosts opens what runs its machine
    Rerun(
            Recordings recordings,
            RunFacts facts,
            Map<String, String> environment,
            OnMiss onMiss,
            MachineHost.Opener hosts)
            throws ReplayException {
        this.recordings = recordings;
        this.facts = facts;
        this.agent = RecordedAgent.of(facts);
        this.environment = Collections.unmodifiableSortedMap(new TreeMap<>(environment));
        this.onMiss = onMiss;
        this.hosts = hosts;
    }

    /// What was executed, and which parts of the recording it could not get.
    ///
    /// @param authority the certificate that its programs trusted, in PEM, or null
    /// @param limits in words
    record Executed(Reexecution.Result result, @Nullable String authority, List<String> limits) {}

    /// Where an execution leaves files.
    ///
    /// @param disk a file that does not exist, for its disk; null if nobody needs it
    /// @param captures an empty folder, for what it takes to replay it; null if it is not to be kept
    record Place(@Nullable Path disk, @Nullable Path captures) {
        static final Place NOWHERE = new Place(null, null);

        /// What a machine of this size becomes: where it is to be kept, it has one processor.
        MachineSize size(MachineSize recorded) {
            return captures == null ? recorded : new MachineSize(recorded.memoryMib(), 1);
        }
    }

    /// Executes it; the events go to `tape`.
    ///
    /// @param workspace whose archive is the recorded one; null for none
    /// @param captures the run's, checked
    /// @param printed keeps what is printed, as far as there is something to compare it with
    /// @param place where to leave the machine's disk after its end, and what it takes to replay it
    /// @throws ReplayException `ENGINE`, or `ALTERED` when the stored entropy is not what was sealed
    Executed execute(
            GuestImage image,
            @Nullable WorkspaceSource workspace,
            Map<String, SealedCapture> captures,
            EventTape tape,
            ReplayedOutput printed,
            Place place,
            Progress progress)
            throws ReplayException, InterruptedException {
        var limits = new ArrayList<String>();
        GuestEntropy entropy = entropy(limits);
        try (var out = frames(captures, CaptureName.FRAMES_OUT.text());
                var in = frames(captures, CaptureName.FRAMES_IN.text())) {
            SealedCapture inTls = captures.get(CaptureName.PLAINTEXT.text());
            Cassette cassette = Cassette.read(out, in, inTls == null ? null : new SealedFrames(inTls));
            limits.addAll(cassette.limits());
            RunAuthority authority = null;
            if (cassette.openedCount() > 0) {
                // The guest's clock shows the recorded time.
                authority = RunAuthority.create(agent.times().startedAt());
                limits.add(
                        "the authority of TLS, keys and octets on the wire of " + cassette.openedCount()
                                + " connections that the gateway opened: the replay has its own; what was said in TLS was compared");
            }
            var given = new Reexecution.Inputs(
                    image,
                    place.size(agent.size()),
                    workspace,
                    agent.with(environment, authority == null ? null : authority.pem()),
                    RecordedInput.of(facts, captures),
                    entropy,
                    agent.times(),
                    authority,
                    onMiss);
            long needed = ComparedOutput.bytesNeeded(new RecordedOutput(facts, captures));
            progress.say("executing the run again, with " + cassette.connectionCount() + " recorded connections and "
                    + cassette.exchangeCount() + " recorded datagrams to answer from");
            if (place.captures() != null && agent.size().cpus() > 1) {
                limits.add("that the recorded machine had " + agent.size().cpus()
                        + " processors: an execution that is kept has one");
            }
            var tapes = new Reexecution.Tapes(
                    RecordedSide.events(recordings, facts.run()),
                    tape,
                    printed,
                    needed,
                    place.disk(),
                    place.captures());
            Reexecution.Result result =
                    Reexecution.in(recordings.data(), hosts, tapes, progress).run(given, cassette);
            String undrawn = TracerReport.of(result.facts().ready().tracer()).undrawn();
            if (undrawn != null) {
                limits.add(
                        "random numbers: this guest's kernel gives programs others than in the recording: " + undrawn);
            }
            if (result.unledSince() != null) {
                limits.add("the guest's clock from " + result.unledSince()
                        + " on: more happened at once than could be followed, so it ran by itself");
            }
            return new Executed(result, given.command().trusted(), limits);
        } catch (IOException | VmException | RecorderException e) {
            throw new ReplayException(
                    Code.ENGINE, "run " + facts.run() + " could not be executed again: " + e.getMessage(), e);
        }
    }

    private static SealedFrames frames(Map<String, SealedCapture> captures, String name)
            throws IOException, ReplayException {
        SealedCapture capture = captures.get(name);
        if (capture == null) {
            throw new ReplayException(
                    Code.MISSING,
                    "the run was recorded without '" + name + "', which executing it again needs: record it again");
        }
        return new SealedFrames(capture);
    }

    private @Nullable GuestEntropy entropy(List<String> limits) throws ReplayException {
        Hash sealed = agent.entropy();
        Payload kept = Payload.of(recordings, facts.run(), CaptureName.ENTROPY.text());
        if (sealed == null || !kept.exists()) {
            limits.add(
                    "the seed of the guest's random generator is not here: the replay's guest was given another one");
            return null;
        }
        try {
            String hex = kept.text(ENTROPY_BYTES_MAX);
            var entropy = GuestEntropy.ofHex(hex.strip());
            if (entropy.digest().equals(sealed)) {
                return entropy;
            }
        } catch (IOException e) {
            throw kept.failure(e);
        } catch (IllegalArgumentException e) {
            throw new ReplayException(Code.ALTERED, kept.file() + " is damaged: " + e.getMessage(), e);
        }
        throw new ReplayException(
                Code.ALTERED, kept.file() + " is not what was sealed; copy it again from where the run was recorded");
    }
}
