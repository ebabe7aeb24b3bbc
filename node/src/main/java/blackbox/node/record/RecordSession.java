package blackbox.node.record;

import blackbox.evidence.sign.CryptoProvider;
import blackbox.ingest.IngestException;
import blackbox.node.alert.RunAlerts;
import blackbox.node.control.ControlServer;
import blackbox.node.control.RunControl;
import blackbox.node.egress.EgressRequest;
import blackbox.node.egress.GatewayPolicy;
import blackbox.node.egress.GivenSecrets;
import blackbox.node.egress.RunEgress;
import blackbox.node.egress.RunGateway;
import blackbox.node.image.LocalImages;
import blackbox.node.machine.Hypervisor;
import blackbox.node.record.RecordResult.Place;
import blackbox.query.run.RunOpening;
import blackbox.recorder.RecorderException;
import blackbox.recorder.capture.CapturedFiles;
import blackbox.recorder.capture.KeptOutput;
import blackbox.recorder.capture.PrintedStream;
import blackbox.recorder.feed.GuestFeeds;
import blackbox.recorder.feed.GuestStreams;
import blackbox.recorder.feed.MachineLog;
import blackbox.recorder.guest.HostClock;
import blackbox.recorder.guest.TracerReport;
import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.recorder.runlog.RunCheckpoints;
import blackbox.recorder.seal.RunRecorder;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.seal.SteadyClock;
import blackbox.recorder.spool.RunLock;
import blackbox.recorder.spool.Spool;
import blackbox.schemas.Hash;
import blackbox.schemas.Progress;
import blackbox.schemas.Release;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.row.Text;
import blackbox.vault.Vault;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.image.GuestImage;
import blackbox.vm.machine.GuestEntropy;
import blackbox.vm.machine.Machine;
import blackbox.vm.machine.MachineHost;
import blackbox.vm.machine.StartFacts;
import blackbox.vm.machine.Terminal;
import blackbox.vm.machine.Tier;
import blackbox.vm.machine.TierChoice;
import blackbox.vm.machine.VmRequest;
import blackbox.vm.workspace.WorkspaceSource;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/// Records one run from end to end. The order matters: the opening leaf is durable before the agent's first
/// instruction, the close comes after the VM has ended, and only then is the run reported as recorded.
public final class RecordSession {

    private static final Duration PUBLISH_TIMEOUT = Duration.ofMinutes(5);

    /// How long an interrupted run waits for broker and table, and then for both to be closed: by then the run is
    /// closed and durable in its spool, and the next pipeline publishes it.
    private static final Duration HASTE = Duration.ofSeconds(1);

    /// How long a run that has ended waits for what earlier recorders left to be encrypted.
    private static final Duration OTHERS_PATIENCE = Duration.ofSeconds(30);

    /// How long outside parties may take to vouch for the log of runs once all else is done.
    private static final Duration ANCHOR_PATIENCE = Duration.ofSeconds(2);
    private static final Duration CHECKPOINT_INTERVAL = Duration.ofMinutes(1);

    private final DataFolder data;
    private final RecordRequest request;
    private final KafkaSettings kafka;
    private final StandardStreams streams;
    private final RecordListener listener;
    private final Progress progress;
    private final InstantSource wall = InstantSource.system();
    private final SecureRandom random = CryptoProvider.current().random();
    private volatile @Nullable AgentRun agent;
    private volatile @Nullable Size size;
    private volatile boolean interrupted;

    /// @param streams the agent's
    /// @param listener is told about the progress
    public RecordSession(
            DataFolder data,
            RecordRequest request,
            KafkaSettings kafka,
            StandardStreams streams,
            RecordListener listener) {
        this.data = data;
        this.request = request;
        this.kafka = kafka;
        this.streams = streams;
        this.listener = listener;
        this.progress = listener::say;
    }

    /// Ends the agent, so that its workspace comes back and the run is closed. Returns when the agent has ended.
    ///
    /// @param signal the one that this process was interrupted with
    /// @return false when no agent runs, and nothing was done
    public boolean interrupt(int signal) {
        AgentRun running = agent;
        if (running == null) {
            return false;
        }
        interrupted = true;
        progress.say("interrupted: ending the command and closing the run; interrupt again to end at once");
        running.interrupt(signal);
        return true;
    }

    /// Resizes the agent's terminal, if it has one; while the VM is still starting, the terminal will begin with this
    /// size.
    public void resize(int rows, int columns) {
        size = new Size(rows, columns);
        resize();
    }

    private record Size(int rows, int columns) {}

    private void resize() {
        AgentRun running = agent;
        Size newest = size;
        if (running != null && newest != null) {
            running.resize(newest.rows(), newest.columns());
        }
    }

    private RecordRequest inPresentSize() {
        Terminal terminal = request.agent().terminal();
        Size newest = size;
        return terminal == null || newest == null
                ? request
                : request.inTerminal(terminal.resized(newest.rows(), newest.columns()));
    }

    /// Records the run.
    ///
    /// @throws VmException when the VM does not come up; nothing was recorded then
    /// @throws RecorderException when the recorder cannot continue; what was recorded before is kept
    public RecordResult run()
            throws VmException, RecorderException, IngestException, IOException, InterruptedException {
        EgressRequest reachable = request.guest().egress();
        try (GivenSecrets _ = reachable == null ? GivenSecrets.none() : reachable.secrets()) {
            return run(reachable);
        }
    }

    private RecordResult run(@Nullable EgressRequest reachable)
            throws VmException, RecorderException, IngestException, IOException, InterruptedException {
        GuestImage image = new LocalImages(data, progress).open(request.guest().image());
        MachineHost host = Hypervisor.opener().open(data.root(), wall, random, progress);
        TierChoice tier = host.choose(request.guest().tier(), image);
        Vault vault = PayloadKeyFile.vault(data);
        vault.prepare();
        progress.say("tier " + tier.tier().label() + ": " + tier.reason());
        SteadyClock steady = SteadyClock.over(wall);
        var clock = new HostClock(steady, tier.tier() == Tier.EXACT ? HostClock.Pace.OWN : HostClock.Pace.SHARED);
        var log = new MachineLog(clock);
        Instant startedAt = wall.instant();
        RunId run = RunId.create(startedAt, random);
        RunEgress egress = reachable == null ? null : RunEgress.of(reachable, startedAt);
        Path workspace = request.workspace();
        var start = new VmRequest(
                image,
                request.guest().size(),
                request.guest().network(),
                workspace == null ? null : new WorkspaceSource.Given(workspace),
                VmRequest.Start.WARM,
                Captures.makeFolder(data, run),
                tier.tier());
        try (var certification = new RunCertification(data, run, random);
                RunLock lock = RunLock.take(data, run);
                Machine vm = start(host, start, log, run);
                ReadablePayloads left = ReadablePayloads.start(data, vault, progress)) {
            RecordResult result = record(
                    vm,
                    log,
                    new StartedRun(
                            inPresentSize(),
                            run,
                            startedAt,
                            tier,
                            steady,
                            clock,
                            certification.certify(),
                            vault,
                            egress));
            left.await(interrupted ? Duration.ZERO : OTHERS_PATIENCE);
            return result;
        }
    }

    private Machine start(MachineHost host, VmRequest start, MachineLog log, RunId run) throws VmException {
        try {
            return inRoom(host.start(start, event -> log.hear(event.name(), event.detail(), event.halted())));
        } catch (VmException e) {
            Path captures = start.captures();
            if (captures != null) {
                ScratchFolder.delete(captures);
            }
            ScratchFolder.delete(data.runs(run));
            throw e;
        }
    }

    /// What exists when the run begins.
    ///
    /// @param request what was asked for, with the terminal's size of now
    /// @param tier of the run, and why
    /// @param steady the run's clock
    /// @param clock gives events their times, by the run's clock
    /// @param vault encrypts what is stored beside its events
    /// @param egress what its gateway decides by; null if it has none
    private record StartedRun(
            RecordRequest request,
            RunId run,
            Instant startedAt,
            TierChoice tier,
            SteadyClock steady,
            HostClock clock,
            RunCertification.Certified certified,
            Vault vault,
            @Nullable RunEgress egress) {

        /// The certificate of the authority that programs in the guest are to trust, in PEM, or null.
        @Nullable
        String trusted() {
            return egress == null ? null : egress.authority().pem();
        }
    }

    private RecordResult record(Machine vm, MachineLog log, StartedRun started)
            throws VmException, RecorderException, IngestException, IOException, InterruptedException {
        Spool spool = Spool.create(data.spool(), started.run());
        try (RunAlerts alerts = RunAlerts.of(started.run(), request.alerts(), data, started.clock(), progress);
                var checkpoints = new RunCheckpoints(
                        spool, started.certified().runs().log(), CHECKPOINT_INTERVAL, progress::say)) {
            return record(vm, log, started, spool, checkpoints, alerts);
        }
    }

    /// The machine, unless its workspace has no room on the agent's disk.
    private Machine inRoom(Machine vm) throws VmException {
        long workspaceBytes = vm.facts().workspace().bytes();
        long room = request.agent().limits().diskBytesMax();
        if (room != 0 && workspaceBytes > room) {
            vm.close();
            throw new VmException(
                    VmException.Code.WORKSPACE_TOO_LARGE,
                    "the workspace has " + workspaceBytes + " bytes, more than the agent's disk may hold, " + room
                            + "; allow it more with --disk (up to 15G), or choose a smaller folder");
        }
        return vm;
    }

    private RecordResult record(
            Machine vm, MachineLog log, StartedRun started, Spool spool, RunCheckpoints checkpoints, RunAlerts alerts)
            throws VmException, RecorderException, IngestException, IOException, InterruptedException {
        RunId run = started.run();
        HostClock clock = started.clock();
        Path hidden = vm.hiddenFolder();
        Path folder = data.captures(run);
        var entropy = GuestEntropy.from(random);
        KeptInputs.keep(vm, entropy, folder, request.limits().framesBytesMax());
        var sealer = new RunSealer(run, started.certified().keys(), checkpoints, started.steady(), alerts.watch());
        open(vm.facts(), entropy.digest(), sealer, started);
        alerts.opening().ifPresent(sealer::append);
        log.handTo(sealer::append);
        vm.onBootClock(clock::heard);
        var recorder = new RunRecorder(sealer, run.value());
        CapturedFiles captures = Captures.of(vm, clock, folder, request.limits());
        Path back = data.workspaces(run);
        var agent =
                new AgentRun(vm, started.request(), started.trusted(), entropy, back, streams, captures, log, listener);
        var streams = new GuestStreams(vm.events(), vm.framesOut(), vm.framesIn());
        var tracer = TracerReport.of(vm.facts().ready().tracer());
        RunEgress egress = started.egress();
        var feeds = new GuestFeeds(
                streams,
                egress == null ? recorder : egress.before(recorder),
                clock,
                tracer,
                log,
                captures,
                started.request().agent().silenceMax(),
                agent::stop);
        recorder.flush();
        var publication = new Publication(data, run, spool, kafka, progress, agent::awaitStarted);
        var control = new RunControl(vm, feeds, clock, recorder, agent.gate(), agent.ending());
        alerts.commands(control);
        try (RunGateway gateway = gateway(vm, started, recorder, agent);
                ControlServer commands = ControlServer.start(control, hidden, data.control(run), progress)) {
            this.agent = agent;
            resize();
            AgentRun.Ending ending = agent.run(feeds, control);
            commands.close();
            this.agent = null;
            if (gateway != null) {
                gateway.close(); // what it decided is in the record before the run's close
            }
            SortedMap<String, String> unsealed = feeds.finish();
            IOException lost = gateway == null ? null : gateway.failure();
            if (lost != null) {
                unsealed.put(CaptureName.PLAINTEXT.text(), FailedWrite.inWords(lost));
            }
            unsealed.forEach(
                    (name, why) -> progress.say("the captured file " + name + " is not sealed to its end: " + why));
            sayWhereCut(captures.output());
            log.handTo(recorder);
            recorder.accept(new Event.RunClose(
                    EventHeader.host(clock.nowNs()),
                    0,
                    0,
                    ending.exitCode(),
                    ending.signal(),
                    agent.closing(ending, unsealed)));
            recorder.close();
            checkpoints.close();
            if (agent.isInterrupted()) {
                // When this process ends, the broker may have the run and the table not yet.
                spool.retain();
            }
            spool.close();
            boolean done = publish(publication, recorder.recorded(), started, agent.isInterrupted());
            if (done) {
                spool.release();
            }
            return new RecordResult(
                    run,
                    request.name(),
                    started.tier(),
                    ending.shellCode(),
                    recorder.recorded(),
                    recorder.losses(),
                    started.startedAt(),
                    wall.instant(),
                    true,
                    done ? publication.goal() : publication.whereabouts(),
                    ending.workspace());
        } finally {
            if (agent.isInterrupted()) {
                publication.close(HASTE);
            } else {
                publication.close();
            }
        }
    }

    private @Nullable RunGateway gateway(Machine vm, StartedRun started, RunRecorder recorder, AgentRun agent) {
        RunEgress egress = started.egress();
        return egress == null
                ? null
                : RunGateway.start(
                        vm.network(),
                        egress,
                        CaptureName.PLAINTEXT.in(data.captures(started.run())),
                        request.limits().plaintextBytesMax(),
                        started.clock(),
                        recorder,
                        agent::stop);
    }

    private void sayWhereCut(KeptOutput output) {
        for (PrintedStream stream : PrintedStream.values()) {
            IOException lost = output.failure(stream);
            if (lost != null) {
                progress.say("of what the command printed on its " + stream.inWords() + " only the first "
                        + output.storedBytes(stream) + " bytes are kept: " + FailedWrite.inWords(lost));
            }
            Long at = output.cutAt(stream);
            if (at != null) {
                progress.say("of the " + output.printedBytes(stream) + " bytes that the command printed on its "
                        + stream.inWords() + " only the first " + at + " are kept; --output-max keeps more");
            }
        }
    }

    /// Waits for the table, and for the files beside the events, which are encrypted meanwhile; in haste, only a
    /// moment for each.
    ///
    /// @return whether the run is where it is to get
    private boolean publish(Publication publication, long recorded, StartedRun started, boolean inHaste)
            throws RecorderException, IngestException, IOException, InterruptedException {
        // It may end with the process: each file is then as it was or encrypted, and the next recording continues.
        Thread encrypting = Thread.ofPlatform().daemon().name("encrypt").start(() -> encrypt(started));
        try {
            vouchForIngest(started.certified().runs());
            return inHaste ? await(publication, recorded, HASTE) : finish(publication, recorded);
        } finally {
            if (!encrypting.join(inHaste ? HASTE : PUBLISH_TIMEOUT)) {
                progress.say(
                        "what is stored beside the run's events is not all encrypted yet; the next 'blackbox serve'"
                                + " or 'record' will continue with it");
            }
        }
    }

    /// The run is recorded even if they stay readable; the next recording tries again.
    private void encrypt(StartedRun started) {
        try {
            started.vault().encrypt(started.run(), progress);
        } catch (IOException e) {
            progress.say("what is stored beside the run's events is not encrypted yet: " + e.getMessage());
        }
    }

    /// Waits for the table, and has the log of runs anchored meanwhile. Anchoring holds nothing up: whoever
    /// does not answer in that time is asked again later.
    private boolean finish(Publication publication, long recorded)
            throws RecorderException, IngestException, IOException, InterruptedException {
        try (AnchorService anchors = AnchorService.once(data, progress)) {
            boolean done = await(publication, recorded, PUBLISH_TIMEOUT);
            anchors.awaitFirst(ANCHOR_PATIENCE);
            return done;
        }
    }

    private boolean await(Publication publication, long recorded, Duration timeout)
            throws IngestException, IOException, InterruptedException {
        String unfinished = publication.finish(recorded, timeout);
        if (unfinished != null) {
            boolean broker = publication.whereabouts() == Place.BROKER;
            boolean elsewhere = publication.goal() == Place.BROKER;
            progress.say("the run is recorded and stored " + (broker ? "at the broker" : "in the spool")
                    + ", but not all of it is " + (elsewhere ? "at the broker" : "in the table") + " yet: " + unfinished
                    + "; the next 'blackbox " + (elsewhere ? "record" : "serve' or 'record")
                    + "' will continue with it");
        }
        return unfinished == null;
    }

    /// The leaves that are durable before the agent's first instruction, in the run's first epoch.
    private void open(StartFacts facts, Hash entropy, RunSealer sealer, StartedRun started) {
        HostClock clock = started.clock();
        Instant read = facts.clock().host();
        clock.align(facts.clock().guestBootNanos(), read.getEpochSecond() * 1_000_000_000L + read.getNano());
        String name = request.name();
        var recorder = new RunOpening.Recorder(
                Release.VERSION,
                started.certified().runs().verifier().encoded(),
                started.certified().certificate(),
                request.limits().outputBytesMax());
        String detail = OpeningLeaf.of(started.request(), started.trusted(), started.tier(), facts, entropy, recorder)
                .toJson();
        sealer.append(new Event.RunOpen(EventHeader.host(clock.nowNs()), name == null ? null : Text.of(name), detail));
        sealer.append(new Event.TracerReady(
                EventHeader.host(clock.nowNs()), facts.ready().tracer()));
        RunEgress egress = started.egress();
        if (egress != null) {
            GatewayPolicy.events(egress.request().policy(), clock.nowNs()).forEach(sealer::append);
        }
    }

    /// The run is recorded even without it; the next run's recorder tries again.
    private void vouchForIngest(TransparencyLog runs) {
        try {
            runs.vouchForIngest();
        } catch (RecorderException e) {
            progress.say("the log of runs could not vouch for ingest's key yet: " + e.getMessage());
        }
    }
}
