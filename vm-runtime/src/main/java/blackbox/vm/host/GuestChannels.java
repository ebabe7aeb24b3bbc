package blackbox.vm.host;

import blackbox.schemas.folder.CaptureName;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.guest.AgentStreams;
import blackbox.vm.guest.OutputBrake;
import blackbox.vm.process.AgentPipe;
import blackbox.vm.process.GrowingFile;
import blackbox.vm.process.MachineFolder;
import blackbox.vm.process.MachineSockets;
import blackbox.vm.process.QemuArguments;
import blackbox.vm.process.QemuProcess;
import blackbox.vm.process.ReplayLog;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Our ends of the guest's bulk channels and of its agent's standard streams.
///
/// @param events the tracer's octets, from its start on
/// @param streams the agent's
/// @param input the pipe of the agent's input, in the exact tier
/// @param log copies QEMU's log, in the exact tier
/// @param brake holds a machine of the exact tier that is ahead of whoever reads its events
record GuestChannels(
        InputStream events,
        AgentStreams streams,
        @Nullable AgentPipe input,
        ReplayLog.@Nullable Copier log,
        @Nullable OutputBrake brake)
        implements AutoCloseable {

    /// The channels of a machine of the live tier.
    ///
    /// @param before what the tracer sent before the snapshot; null after a cold start
    static GuestChannels live(QemuProcess qemu, @Nullable Path before) throws VmException {
        SocketChannel stdio = qemu.sockets().channel(MachineSockets.Port.STDIO);
        InputStream events = Channels.newInputStream(qemu.sockets().channel(MachineSockets.Port.EVENTS));
        var streams = new AgentStreams(Channels.newInputStream(stdio), stdio);
        return new GuestChannels(after(before, events), streams, null, null, null);
    }

    /// The channels of a machine of the exact tier.
    static GuestChannels exact(QemuProcess qemu, MachineFolder folder, AgentPipe input, Path before)
            throws VmException {
        Path captures = folder.file(QemuArguments.CAPTURE);
        try {
            Path kept = Files.createFile(CaptureName.LOG.in(captures));
            var copier =
                    new ReplayLog.Copier(qemu.follow(folder.file(QemuArguments.LOG), ReplayLog.HEADER_BYTES), kept);
            var streams = new AgentStreams(qemu.follow(CaptureName.STDIO.in(captures), 0), input.channel());
            GrowingFile events = qemu.follow(CaptureName.EVENTS.in(captures), 0);
            var brake = OutputBrake.start(qemu.process(), qemu.gate(), events);
            return new GuestChannels(after(before, events), streams, input, copier, brake);
        } catch (IOException e) {
            throw new VmException(Code.IO, "QEMU's output in " + captures + " could not be read", e);
        }
    }

    private static InputStream after(@Nullable Path before, InputStream events) throws VmException {
        try {
            return before == null ? events : new SequenceInputStream(Files.newInputStream(before), events);
        } catch (IOException e) {
            throw new VmException(Code.IO, before + " could not be read", e);
        }
    }

    /// To be called when QEMU has ended: waits for the last octet of its log.
    void finish() throws VmException {
        if (log != null) {
            log.finish();
        }
    }

    /// Holds the machine back no longer: it is to end, and has to run for that.
    void letGo() {
        if (brake != null) {
            brake.close();
        }
    }

    @Override
    public void close() throws VmException {
        try (brake;
                input;
                events) {
            finish();
        } catch (IOException e) {
            throw new VmException(Code.IO, "the VM's streams could not be closed", e);
        }
    }
}
