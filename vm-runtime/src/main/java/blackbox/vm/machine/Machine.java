package blackbox.vm.machine;

import blackbox.vm.VmException;
import blackbox.vm.machine.GuestMessage.Exit;
import blackbox.vm.machine.GuestMessage.Started;
import blackbox.vm.machine.GuestMessage.Told;
import blackbox.vm.machine.GuestMessage.TracerEnded;
import blackbox.vm.workspace.TarFilter;
import blackbox.vm.workspace.WorkspaceDisk;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// A running machine with an agent in it, or about to be. Its owner is one thread, which calls the steps in
/// order: [#prepareAgent], [#launchAgent], [#awaitExit], [#drain], [#collect], [#powerOff], [#copyDisk], [#close];
/// [#kill] may come from any thread at any time. [#events], [#framesOut] and [#framesIn] must be read, each by a
/// thread of its own, from the start to their end.
public interface Machine extends AutoCloseable {

    /// How the machine was started.
    StartFacts facts();

    /// The tracer's bytes, from its start on: in a restored machine first those from before the snapshot.
    /// Ends when the machine does.
    InputStream events();

    /// A folder with a path short enough for sockets, in which only this user can make files, and which neither the
    /// guest nor the hypervisor sees. It is gone after [#close].
    Path hiddenFolder() throws VmException;

    /// Every frame that the machine's interface sent, as a pcap stream (LINKTYPE_ETHERNET, microseconds).
    /// Ends when the machine does. It is a pipe: read it on a platform thread, because a virtual one would
    /// block its carrier.
    InputStream framesOut();

    /// Every frame that it received, in the same form.
    InputStream framesIn();

    /// The other end of the machine's interface, where its network is [Network#PEER]. Each frame in both
    /// directions is an unsigned 32-bit length, most significant octet first, and that many octets of
    /// Ethernet. The guest's frames wait until they are read.
    SocketChannel network();

    /// Has `listener` receive each reading of the guest's boot clock, on a thread that it must not block: in the
    /// exact tier often, while its agent runs; in the live tier never. Must be called before the agent is launched.
    void onBootClock(LongConsumer listener);

    /// Has `listener` receive up to when, on the guest's boot clock, all that was written to its disk is in the
    /// disk's file, as the guest says several times a second while its agent runs; on a thread that it must not
    /// block. To be called before the agent is launched.
    void onSynced(LongConsumer listener);

    /// Has `listener` receive that the guest's tracer ended before its time, on a thread that it must not block. The
    /// guest has frozen the agent by then, has another tracer read on, and ends the agent. To be called before the
    /// agent is launched.
    void onTracerEnded(Consumer<TracerEnded> listener);

    /// Prepares everything for the agent, above all its workspace; returns when the agent is ready to be
    /// launched. Threads of this machine copy its input and output.
    ///
    /// @param entropy for the guest's random generator
    void prepareAgent(AgentCommand command, GuestEntropy entropy, InputStream in, OutputStream out, OutputStream error)
            throws VmException;

    /// Has the guest set its wall clock to `now` and execute the agent at once. In the exact tier its clock is then
    /// kept in step with the host's until the agent has ended.
    Started launchAgent(Instant now) throws VmException;

    /// Tells the guest what its wall clock is to show, and at which pace its clocks are to run. It sets its wall clock
    /// forward if that is 2 ms or more behind, and never back. Only in the live tier, after the launch, and by one
    /// thread, which must not be interrupted meanwhile: that would close the port.
    ///
    /// @return what the guest says of it; null if it did not answer in time
    @Nullable
    Told tellClock(Instant time, ClockPace pace) throws VmException, InterruptedException;

    /// How well the guest's clock has kept to the host's time since the agent's launch; null in the live tier,
    /// where it keeps time by itself. Any thread.
    @Nullable
    ClockDrift clockDrift();

    /// Copies the archive that went in to `target`, which must not exist; only this user can read it.
    void copyWorkspaceIn(Path target) throws VmException;

    /// Waits for the agent's end and, as long as `timeout` and at least some seconds, until its output has been
    /// passed on: a stream of which all was passed on has been closed by then.
    ///
    /// @throws VmException `TIMEOUT` when it runs longer than `timeout`; it is then still running
    Exit awaitExit(Duration timeout) throws VmException;

    /// Does not wait for the agent's output any longer, because nobody reads it: [#awaitExit] returns once the agent
    /// has
    /// ended. Any thread.
    void abandonOutput();

    /// What stops its guest from outside. Any thread.
    MachineBrake brake();

    /// Sends the agent's first process a signal, by Linux's number.
    void signalAgent(int number) throws VmException;

    /// Resizes the agent's terminal; has no effect if it has none.
    void resizeTerminal(Terminal terminal) throws VmException;

    /// Has the tracer send everything that it still holds; returns when it has done so.
    void drain(Duration timeout) throws VmException;

    /// Copies the guest's workspace into `target`, which must not exist. Ends any processes of the agent that are
    /// left.
    WorkspaceDisk.Unpacked collect(Path target, TarFilter.Limits limits, Duration timeout) throws VmException;

    /// Lets the guest shut down; kills it if it does not within `timeout`. Returns whether it ended by
    /// itself.
    boolean powerOff(Duration timeout) throws VmException;

    /// Writes what the machine's writable disk holds to `target`, which must not exist: a raw image with holes,
    /// which only this user can read. All that the guest wrote is on it if [#powerOff] returned true; else what was
    /// still in its memory is missing.
    ///
    /// @throws VmException `BUSY` while the machine runs; `QEMU_FAILED` if it was killed, for then a part of the
    ///     disk may have been lost with it; `IO` if `target` exists or cannot be written
    void copyDisk(Path target) throws VmException;

    /// Makes the content of the disks' files final up to some length, where the machine allows it: completes all
    /// requests to the disks so far. At once if the machine has ended, because then all of them are done. Any
    /// thread.
    ///
    /// @return how long before this call a file's length must have been read, so that its content up to there will
    ///     not change anymore; zero for any length read before this call; null if that is not known yet, because
    ///     the host's disk is slow or the machine is about to end: ask again later
    @Nullable
    Duration settleDisks();

    /// Ends the machine at once. The streams end.
    void kill() throws VmException;

    /// Ends the machine if it is still running, and removes everything it had on the host.
    @Override
    void close() throws VmException;
}
