package blackbox.cli.record;

import blackbox.cli.data.DataFolder;
import blackbox.ingest.IngestException;
import blackbox.recorder.RecorderException;
import blackbox.recorder.guest.HostClock;
import blackbox.recorder.guest.TracerFiles;
import blackbox.recorder.keys.KeyFile;
import blackbox.recorder.seal.RunRecorder;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.spool.RunLock;
import blackbox.recorder.spool.Spool;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.row.Text;
import blackbox.schemas.sign.Ed25519Key;
import blackbox.vm.VmException;
import blackbox.vm.image.GuestFiles;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.ImageStore;
import blackbox.vm.machine.StartFacts;
import blackbox.vm.machine.VirtualMachine;
import blackbox.vm.machine.VmHost;
import blackbox.vm.machine.VmRequest;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// Records one run from end to end. The order is the point: the opening leaf is durable before the agent's
/// first instruction, the close comes after the VM has ended, and only then is it said that the run is
/// recorded.
public final class RecordSession {

    private static final Duration PUBLISH_TIMEOUT = Duration.ofMinutes(5);
    private static final int CPUS_MAX = 4_096;

    private final DataFolder data;
    private final RecordRequest request;
    private final KafkaSettings kafka;
    private final Consumer<String> says;
    private final InstantSource wall = InstantSource.system();
    private final SecureRandom random = new SecureRandom();

    /// @param says hears what goes on, a line at a time
    public RecordSession(DataFolder data, RecordRequest request, KafkaSettings kafka, Consumer<String> says) {
        this.data = data;
        this.request = request;
        this.kafka = kafka;
        this.says = says;
    }

    /// Records; standard input and output are the agent's meanwhile.
    ///
    /// @throws VmException when the VM does not come up; nothing was recorded then
    /// @throws RecorderException when the recorder cannot go on; what was recorded before is kept
    public RecordResult run()
            throws VmException, RecorderException, IngestException, IOException, InterruptedException {
        GuestImage image = new ImageStore(data.root()).open(request.image(), GuestFiles.with(TracerFiles.all()));
        VmHost host = VmHost.open(data.root(), wall, random, says::accept);
        var clock = new HostClock(wall);
        var log = new VmLog(clock);
        var start = new VmRequest(
                image, VmRequest.MEMORY_MIB_DEFAULT, request.network(), request.workspace(), VmRequest.Start.WARM);
        Instant startedAt = wall.instant();
        RunId run = RunId.create(startedAt, random);
        try (VirtualMachine vm = host.start(start, log::hear);
                RunLock lock = RunLock.take(data.runs(), run)) {
            return record(vm, log, clock, run, startedAt);
        }
    }

    private RecordResult record(VirtualMachine vm, VmLog log, HostClock clock, RunId run, Instant startedAt)
            throws VmException, RecorderException, IngestException, IOException, InterruptedException {
        Ed25519Key key = KeyFile.loadOrCreate(data.keys(), "recorder");
        Spool spool = Spool.create(data.spool(), run);
        var recorder = new RunRecorder(new RunSealer(run, key, spool, wall), run.value());
        open(vm.facts(), recorder, clock, key);
        log.handTo(recorder);
        var agent = new AgentRun(vm, request, data.workspaces().resolve(run.value()), says);
        var feeds = new GuestFeeds(vm, recorder, clock, cpuSeq(vm.facts()), log, agent::stop);
        recorder.flush();
        var publication = new Publication(data, run, spool, kafka, says, agent::awaitStarted);
        try {
            AgentRun.Ending ending = agent.run(feeds);
            feeds.finish();
            log.handTo(recorder);
            recorder.record(new Event.RunClose(
                    EventHeader.host(clock.nowNs()), 0, 0, ending.exitCode(), ending.signal(), ending.json()));
            recorder.close();
            spool.close();
            String unfinished = publication.finish(recorder.recorded(), PUBLISH_TIMEOUT);
            if (unfinished != null) {
                says.accept("the run is recorded and kept in the spool, but not in the table yet: " + unfinished
                        + "; the next 'blackbox serve' or 'record' goes on with it");
            }
            return new RecordResult(
                    run,
                    request.name(),
                    ending.shellCode(),
                    recorder.recorded(),
                    recorder.lost(),
                    startedAt,
                    wall.instant(),
                    true,
                    ending.workspace());
        } finally {
            publication.close();
        }
    }

    private void open(StartFacts facts, RunRecorder recorder, HostClock clock, Ed25519Key key)
            throws RecorderException {
        Instant read = facts.clock().host();
        clock.align(facts.clock().guestBootNanos(), read.getEpochSecond() * 1_000_000_000L + read.getNano());
        String name = request.name();
        String detail = OpeningLeaf.json(request, facts, key.verifier());
        recorder.record(
                new Event.RunOpen(EventHeader.host(clock.nowNs()), name == null ? null : Text.of(name), detail));
        recorder.record(new Event.TracerReady(
                EventHeader.host(clock.nowNs()), facts.ready().tracer()));
    }

    /// Where the tracer says that each CPU's sequence stood when it became ready.
    private static List<Long> cpuSeq(StartFacts facts) {
        var numbers = new ArrayList<Long>();
        try {
            for (JsonNode number :
                    new ObjectMapper().readTree(facts.ready().tracer()).path("cpuSeq")) {
                if (numbers.size() < CPUS_MAX) {
                    numbers.add(Math.max(0, number.asLong()));
                }
            }
        } catch (JsonProcessingException e) {
            return List.of(); // every number from 1 to the first that comes is then declared lost
        }
        return numbers;
    }
}
