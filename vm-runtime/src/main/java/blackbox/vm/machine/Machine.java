package blackbox.vm.machine;

import blackbox.vm.VmException;
import blackbox.vm.machine.GuestMessage.Exit;
import blackbox.vm.machine.GuestMessage.Started;
import blackbox.vm.workspace.TarFilter;
import blackbox.vm.workspace.WorkspaceDisk;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// A running machine with an agent in it, or about to be. Its owner is one thread, which calls the steps in
/// order: [#prepareAgent], [#launchAgent], [#awaitExit], [#drain], [#collect], [#powerOff], [#close]; [#kill]
/// may come from any thread at any time. [#events], [#framesOut] and [#framesIn] must be read, each by a
/// thread of its own, from the start to their end.
public interface Machine extends AutoCloseable {

    /// How it came up.
    StartFacts facts();

    /// The tracer's bytes, from its start on: in a restored machine first those from before the snapshot.
    /// Ends when the machine does.
    InputStream events();

    /// Every frame that the machine's interface sent, as a pcap stream (LINKTYPE_ETHERNET, microseconds).
    /// Ends when the machine does. It is a pipe: read it on a platform thread, for a virtual one would keep
    /// its carrier.
    InputStream framesOut();

    /// Every frame that it was sent, in the same form.
    InputStream framesIn();

    /// The other end of the machine's interface, where its network is [Network#PEER]. Each frame in both
    /// directions is an unsigned 32-bit length, most significant octet first, and that many octets of
    /// Ethernet. The guest's frames wait for whoever reads.
    SocketChannel network();

    /// Has `listener` hear what the guest's boot clock shows whenever it says so, on a thread that it must not block:
    /// in the exact tier often, while its agent runs; in the live tier never. Before the agent is launched.
    void onBootClock(LongConsumer listener);

    /// Puts everything in place for the agent, its workspace above all; returns when it waits for its launch.
    /// Input and output are copied by threads of this machine's.
    ///
    /// @param entropy for the guest's random generator
    void prepareAgent(AgentCommand command, GuestEntropy entropy, InputStream in, OutputStream out, OutputStream error)
            throws VmException;

    /// Has the guest set its wall clock to `now` and execute the agent at once. In the exact tier its clock is then
    /// kept with the host's until the agent has ended.
    Started launchAgent(Instant now) throws VmException;

    /// How well the guest's clock has kept the host's time since the agent's launch; null in the live tier, where it
    /// keeps that by itself. Any thread.
    @Nullable
    ClockDrift clockDrift();

    /// Copies the archive that went in to `target`, which must not exist; only this user may read it.
    void copyWorkspaceIn(Path target) throws VmException;

    /// Waits for the agent's end and for the last byte of its output.
    ///
    /// @throws VmException `TIMEOUT` when it runs longer than `timeout`: it still runs then
    Exit awaitExit(Duration timeout) throws VmException;

    /// Sends the agent's first process a signal, by Linux's number.
    void signalAgent(int number) throws VmException;

    /// Makes the tracer send everything that it still has; returns when it has done so.
    void drain(Duration timeout) throws VmException;

    /// Copies the guest's workspace into `target`, which must not exist. Ends what is left of the agent's
    /// processes.
    WorkspaceDisk.Unpacked collect(Path target, TarFilter.Limits limits, Duration timeout) throws VmException;

    /// Lets the guest end in order; kills it when it does not within `timeout`. Returns whether it ended by
    /// itself.
    boolean powerOff(Duration timeout) throws VmException;

    /// Waits until what the disks have been told so far is done: what a file of theirs holds up to the
    /// length that it had before this call will not change any more. Returns at once when the machine has
    /// ended, for then all of it is done. Any thread.
    ///
    /// @throws VmException `TIMEOUT` when the disks take too long: ask again later
    void settleDisks() throws VmException;

    /// Ends the machine at once. The streams end.
    void kill() throws VmException;

    /// Ends the machine when it still runs, and removes everything it had on the host.
    @Override
    void close() throws VmException;
}
