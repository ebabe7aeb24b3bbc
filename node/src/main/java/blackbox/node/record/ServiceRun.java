package blackbox.node.record;

import blackbox.evidence.sign.CryptoProvider;
import blackbox.evidence.text.Timestamps;
import blackbox.query.run.RunOpening;
import blackbox.recorder.RecorderException;
import blackbox.recorder.publish.KafkaPublisher;
import blackbox.recorder.runlog.RunCheckpoints;
import blackbox.recorder.seal.RunRecorder;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.seal.SteadyClock;
import blackbox.recorder.spool.RunLock;
import blackbox.recorder.spool.Spool;
import blackbox.recorder.spool.SpoolPump;
import blackbox.schemas.Progress;
import blackbox.schemas.Release;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.folder.DataFolder;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/// A service's own record: a run without an agent, certified and sealed as any other. It ends with [#close]; if
/// the process is killed, it is what was sealed until then.
public final class ServiceRun implements AutoCloseable {
    private static final Duration CHECKPOINT_INTERVAL = Duration.ofMinutes(1);

    /// How often to seal while nobody asks: each time costs a batch.
    private static final Duration IDLE = Duration.ofMinutes(5);

    private final RunId run;
    private final SteadyClock clock;
    private final RunCertification certification;
    private final RunLock lock;
    private final Spool spool;
    private final RunCheckpoints checkpoints;
    private final RunRecorder recorder;
    private @Nullable SpoolPump pump;
    private boolean closed;

    private ServiceRun(
            RunId run,
            SteadyClock clock,
            RunCertification certification,
            RunLock lock,
            Spool spool,
            RunCheckpoints checkpoints,
            RunRecorder recorder) {
        this.run = run;
        this.clock = clock;
        this.certification = certification;
        this.lock = lock;
        this.spool = spool;
        this.checkpoints = checkpoints;
        this.recorder = recorder;
    }

    /// Begins one; its first leaf is durable when this returns.
    ///
    /// @param service what it is the record of, in a word
    /// @throws RecorderException when it cannot begin
    public static ServiceRun open(DataFolder data, String service, Progress progress)
            throws RecorderException, InterruptedException {
        SecureRandom random = CryptoProvider.current().random();
        InstantSource wall = InstantSource.system();
        SteadyClock clock = SteadyClock.over(wall);
        RunId run = RunId.create(wall.instant(), random);
        var certification = new RunCertification(data, run, random);
        RunLock lock = null;
        Spool spool = null;
        RunCheckpoints checkpoints = null;
        ServiceRun opened = null;
        try {
            lock = RunLock.take(data, run);
            spool = Spool.create(data.spool(), run); // first what fails where there is no room: a certificate stays
            RunCertification.Certified certified = certification.certify();
            checkpoints = new RunCheckpoints(spool, certified.runs().log(), CHECKPOINT_INTERVAL, progress::say);
            var sealer = new RunSealer(run, certified.keys(), checkpoints, clock);
            var recorder = new RunOpening.Recorder(
                    Release.VERSION, certified.runs().verifier().encoded(), certified.certificate(), null);
            sealer.append(new Event.RunOpen(header(clock), null, RunOpening.ofService(service, IDLE, recorder)));
            opened = new ServiceRun(
                    run, clock, certification, lock, spool, checkpoints, new RunRecorder(sealer, run.value(), IDLE));
            opened.recorder.flush();
            return opened;
        } catch (RecorderException | InterruptedException | RuntimeException e) {
            if (opened != null) {
                opened.release();
                throw e;
            }
            if (checkpoints != null) {
                checkpoints.close();
            }
            if (spool != null) {
                spool.close();
            }
            if (lock != null) {
                lock.close();
            }
            certification.close();
            throw e;
        }
    }

    private static EventHeader header(SteadyClock clock) {
        return EventHeader.host(Timestamps.nanos(clock.instant()));
    }

    public RunId run() {
        return run;
    }

    /// Of an event that happens now.
    public EventHeader now() {
        return header(clock);
    }

    /// Records an event; it is durable half a second later, or when [#flush] has returned.
    ///
    /// @throws RecorderException when nothing more can be recorded
    public void accept(Event event) throws RecorderException {
        recorder.accept(event);
    }

    /// Waits until all that this thread recorded is sealed and durable.
    ///
    /// @throws RecorderException when it is not, and will not be
    public void flush() throws RecorderException {
        recorder.flush();
    }

    /// What keeps it from recording more, or null.
    public @Nullable RecorderException failure() {
        return recorder.failure();
    }

    /// Carries it to the broker from now on.
    public synchronized void publish(KafkaPublisher publisher) {
        if (pump == null && !closed) {
            pump = new SpoolPump(spool, publisher, run.value());
        }
    }

    /// Ends what [#publish] began; what the broker does not have yet stays in the spool, for whoever ingests next.
    public synchronized void stopPublishing() {
        SpoolPump carrying = pump;
        if (carrying != null) {
            carrying.close();
            pump = null;
        }
    }

    /// Ends the run.
    ///
    /// @throws RecorderException when not all of it could be made durable
    @Override
    public synchronized void close() throws RecorderException {
        if (closed) {
            return;
        }
        closed = true;
        try {
            if (recorder.failure() == null) {
                recorder.accept(new Event.RunClose(now(), 0, 0, null, null, "{\"ended\":\"stopped\"}"));
            }
        } finally {
            release();
        }
    }

    private void release() throws RecorderException {
        try {
            recorder.close();
        } finally {
            checkpoints.close();
            stopPublishing();
            spool.close();
            lock.close();
            certification.close();
        }
    }
}
