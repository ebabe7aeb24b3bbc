package blackbox.schemas.event;

import blackbox.schemas.Hash;
import blackbox.schemas.row.Text;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Something that happened in a run. Null means: not known or not applicable; a value that should be known
/// and is not is named in the header's marks. `ret` is 0 or more on success, a negated errno otherwise.
public sealed interface Event {

    EventHeader header();

    Kind kind();

    /// A program was executed, or the attempt failed (`ret` below 0). `env` has names only.
    record ProcessExec(
            EventHeader header,
            @Nullable Text exe,
            @Nullable List<Text> argv,
            @Nullable List<Text> env,
            @Nullable Text cwd,
            long ret)
            implements Event {
        @Override
        public Kind kind() {
            return Kind.PROCESS_EXEC;
        }
    }

    /// A process was created; the header's process is the child. `parentStartNs` with its ppid names the
    /// parent.
    record ProcessFork(EventHeader header, @Nullable Long parentStartNs) implements Event {
        @Override
        public Kind kind() {
            return Kind.PROCESS_FORK;
        }
    }

    /// The last thread of a process ended, by itself (`exitCode`) or by a signal.
    record ProcessExit(
            EventHeader header,
            @Nullable Integer exitCode,
            @Nullable Integer signal) implements Event {
        @Override
        public Kind kind() {
            return Kind.PROCESS_EXIT;
        }
    }

    /// A process that ran before the tracer was ready.
    record ProcessRunning(EventHeader header, @Nullable Text exe) implements Event {
        @Override
        public Kind kind() {
            return Kind.PROCESS_RUNNING;
        }
    }

    /// A process sent another one a signal, or the kernel killed one in a call of this process: `what` is the
    /// signal's name, `detail` says to whom.
    record ProcessSignal(EventHeader header, int signal, String what, String detail) implements Event {
        @Override
        public Kind kind() {
            return Kind.PROCESS_SIGNAL;
        }
    }

    /// What the container is of which the header has the number; its process is the first there. `root` is the
    /// container's, by the name that it has for the agent's first processes.
    record ProcessContainer(EventHeader header, @Nullable Text root, String detail) implements Event {
        @Override
        public Kind kind() {
            return Kind.PROCESS_CONTAINER;
        }
    }

    /// A file was opened, by whatever call. `flags` are open(2)'s; `path` is the kernel's own on success, as
    /// given on failure.
    record FileOpen(
            EventHeader header,
            @Nullable Text path,
            long flags,
            @Nullable Integer mode,
            boolean created,
            long ret) implements Event {
        @Override
        public Kind kind() {
            return Kind.FILE_OPEN;
        }
    }

    /// The last reference to an open file was dropped without reads or writes by this process.
    record FileClose(
            EventHeader header,
            @Nullable Text path,
            @Nullable Long ret) implements Event {
        @Override
        public Kind kind() {
            return Kind.FILE_CLOSE;
        }
    }

    /// Reads and writes of one process on one open file, folded; offsets are octets from the file's start.
    /// `ret` is a negated errno if some of the writes failed for want of room; they are not counted.
    record FileIo(
            EventHeader header,
            @Nullable Text path,
            long bytesRead,
            long bytesWritten,
            long reads,
            long writes,
            @Nullable Long offsetFirst,
            @Nullable Long offsetLast,
            @Nullable Long ret)
            implements Event {
        @Override
        public Kind kind() {
            return Kind.FILE_IO;
        }
    }

    /// An extended attribute of a file was set or removed; `detail` is about its value.
    record FileXattr(
            EventHeader header,
            @Nullable Text path,
            @Nullable Text name,
            boolean removed,
            @Nullable String detail,
            long ret)
            implements Event {
        @Override
        public Kind kind() {
            return Kind.FILE_XATTR;
        }
    }

    /// A change to a name or to attributes: kinds file.rename, unlink, rmdir, mkdir, symlink, link, chmod,
    /// chown, truncate, mknod, utime, chattr. `pathTo` for rename, link and symlink (its target); `mode`
    /// for chmod, mkdir and mknod; `uid`/`gid` for chown; `size`, in octets, is the new length for
    /// truncate; for rename it is renameat2's flags, null for none; for chattr
    /// the attributes (FS_*_FL).
    record FileChange(
            EventHeader header,
            Kind kind,
            @Nullable Text path,
            @Nullable Text pathTo,
            @Nullable Integer mode,
            @Nullable Integer uid,
            @Nullable Integer gid,
            @Nullable Long size,
            long ret)
            implements Event {
        public FileChange {
            if (kind == Kind.FILE_MMAP || kind == Kind.FILE_ALLOCATE) {
                throw new IllegalArgumentException(kind.eventName() + " has a record of its own");
            }
        }
    }

    /// A range of a file was given room, or lost its content.
    ///
    /// @param end of the range, in octets from the file's start; null if it is not known
    record FileAllocate(
            EventHeader header,
            @Nullable Text path,
            @Nullable Long end,
            AllocationMode mode,
            long ret) implements Event {
        @Override
        public Kind kind() {
            return Kind.FILE_ALLOCATE;
        }
    }

    /// A file was mapped, shared and writable: what is written through the mapping is not seen.
    record FileMap(EventHeader header, @Nullable Text path, Protection protection, long ret) implements Event {
        @Override
        public Kind kind() {
            return Kind.FILE_MMAP;
        }
    }

    /// The first segment of a TCP connection is about to be sent.
    ///
    /// @param sequence its number, 0 to 2^32 - 1
    /// @param exe the program that the process runs; null for a connection of the kernel's own, or where it is
    ///     not known
    record NetSyn(
            EventHeader header,
            String protocol,
            @Nullable Endpoint local,
            @Nullable Endpoint remote,
            @Nullable Long sequence,
            @Nullable Text exe)
            implements Event {
        @Override
        public Kind kind() {
            return Kind.NET_SYN;
        }
    }

    /// A socket call: kinds net.bind, net.connect, net.listen, net.accept, net.send. `path` is a Unix socket's name, in
    /// which a leading NUL is shown as `@`.
    record NetCall(
            EventHeader header,
            Kind kind,
            String protocol,
            @Nullable Endpoint local,
            @Nullable Endpoint remote,
            @Nullable Text path,
            long ret)
            implements Event {}

    /// A flow with its byte counts. `host` is a DNS name or TLS server name; `what` says how it ended.
    record NetFlow(
            EventHeader header,
            String protocol,
            @Nullable Endpoint local,
            @Nullable Endpoint remote,
            @Nullable Text host,
            long bytesOut,
            long bytesIn,
            @Nullable Long packetsOut,
            @Nullable Long packetsIn,
            @Nullable String what)
            implements Event {
        @Override
        public Kind kind() {
            return Kind.NET_FLOW;
        }
    }

    /// A DNS question, with its answers where the host saw them.
    record DnsQuery(
            EventHeader header,
            Text name,
            int type,
            List<Text> answers,
            String protocol,
            @Nullable Endpoint local,
            @Nullable Endpoint remote)
            implements Event {
        @Override
        public Kind kind() {
            return Kind.DNS_QUERY;
        }

        public DnsQuery {
            answers = List.copyOf(answers);
        }
    }

    /// Credentials changed. Capabilities are effective masks.
    record CredChange(
            EventHeader header,
            int uid,
            int uidTo,
            int gid,
            int gidTo,
            @Nullable Long caps,
            @Nullable Long capsTo) implements Event {
        @Override
        public Kind kind() {
            return Kind.CRED_CHANGE;
        }
    }

    /// A privileged interface was used: `what` is `ptrace`, `mount`, `module`, `bpf`, `setns`, `unshare`,
    /// `io_uring`, ….
    record PrivilegeUse(
            EventHeader header,
            String what,
            @Nullable Text path,
            @Nullable String detail,
            long ret) implements Event {
        @Override
        public Kind kind() {
            return Kind.PRIVILEGE_USE;
        }
    }

    /// `lost` events are known to be missing; `what` says where they were lost (`ring`, `sequence`, `limit`,
    /// …), detail is JSON.
    record RecorderLoss(
            EventHeader header,
            long lost,
            String what,
            @Nullable String detail) implements Event {
        @Override
        public Kind kind() {
            return Kind.RECORDER_LOSS;
        }
    }

    /// The host's heartbeat. `events` counts the leaves including this one; `lost` is the sum of the losses
    /// declared so far; detail names the key of the next epoch, if there are epoch keys (`schemas/trust.md`).
    record RecorderHeartbeat(
            EventHeader header,
            long batch,
            Hash previous,
            long events,
            long lost,
            @Nullable String detail) implements Event {
        @Override
        public Kind kind() {
            return Kind.RECORDER_HEARTBEAT;
        }
    }

    /// The guest tracer's heartbeat; detail is JSON with its counters.
    record TracerHeartbeat(EventHeader header, @Nullable String detail) implements Event {
        @Override
        public Kind kind() {
            return Kind.TRACER_HEARTBEAT;
        }
    }

    /// Something that the recorder noticed and that limits how far the recording can be relied on.
    record RecorderFinding(EventHeader header, FindingDetail detail) implements Event {
        @Override
        public Kind kind() {
            return Kind.RECORDER_FINDING;
        }
    }

    /// A detection rule held of the events before it (`what` is the rule's id), or by which rules the run is
    /// watched (`what` is the digest of all).
    record Detection(Kind kind, EventHeader header, String what, String detail) implements Event {
        public Detection {
            if (kind != Kind.RECORDER_ALERT && kind != Kind.RECORDER_RULES) {
                throw new IllegalArgumentException(kind + " is not about rules");
            }
        }
    }

    /// Which probes are attached, and that the canary came through; detail is the guest's JSON.
    record TracerReady(EventHeader header, String detail) implements Event {
        @Override
        public Kind kind() {
            return Kind.TRACER_READY;
        }
    }

    /// What the hypervisor reported: `what` is QMP's event name.
    record VmLifecycle(
            EventHeader header, String what, @Nullable String detail) implements Event {
        @Override
        public Kind kind() {
            return Kind.VM_LIFECYCLE;
        }
    }

    /// The agent's first process exists, as the guest's first process reports; detail is JSON with its pid, the id
    /// of its control group and when it was made.
    record AgentStart(EventHeader header, String detail) implements Event {
        @Override
        public Kind kind() {
            return Kind.AGENT_START;
        }
    }

    /// The agent has ended, with all its processes: the exit code of its first, or the signal that ended that one.
    record AgentExit(
            EventHeader header,
            @Nullable Integer exitCode,
            @Nullable Integer signal) implements Event {
        @Override
        public Kind kind() {
            return Kind.AGENT_EXIT;
        }
    }

    /// A segment of a file that the host stores beside the events: `what` names the file, detail is JSON with
    /// the segment's position and digest; see `schemas/capture.md`.
    record VmCapture(
            EventHeader header, String what, @Nullable String detail) implements Event {
        @Override
        public Kind kind() {
            return Kind.VM_CAPTURE;
        }
    }

    /// A replayed run asked the network for something that its recording does not contain: `what` is the
    /// class, such as `CONNECT`; detail is JSON.
    record NetMiss(
            EventHeader header, String what, @Nullable String detail) implements Event {
        @Override
        public Kind kind() {
            return Kind.NET_MISS;
        }
    }

    /// The egress gateway decided about a name, a connection, an address or a request: `verdict` is `allow`,
    /// `deny` or `would-deny`; `host` is the name, null for an address that stands for none; detail is JSON.
    record EgressDecision(
            EventHeader header,
            String verdict,
            String protocol,
            Endpoint local,
            Endpoint remote,
            @Nullable Text host,
            String detail)
            implements Event {
        @Override
        public Kind kind() {
            return Kind.EGRESS_DECISION;
        }
    }

    /// An HTTP request that the egress gateway judged is over: `what` is how, such as `answered`; the octets are
    /// those of the bodies; `host` is as in [EgressDecision]; detail is JSON.
    record HttpExchange(
            EventHeader header,
            String what,
            Endpoint local,
            Endpoint remote,
            @Nullable Text host,
            long bytesOut,
            long bytesIn,
            String detail)
            implements Event {
        @Override
        public Kind kind() {
            return Kind.HTTP_EXCHANGE;
        }
    }

    /// What became of a secret in an HTTP exchange: `what` is `put`, `absent`, `elsewhere` or `reflected`;
    /// `host` is as in [EgressDecision]; detail is JSON, and has neither its value nor what stands for it.
    record EgressSecret(
            EventHeader header,
            String what,
            Endpoint local,
            Endpoint remote,
            @Nullable Text host,
            String detail) implements Event {
        @Override
        public Kind kind() {
            return Kind.EGRESS_SECRET;
        }
    }

    /// What an HTTP exchange was in the terms of agents. `what` is of `llm.call` the API, of `llm.tool` the tool's
    /// name, of `mcp.call` the method; detail is JSON: see `schemas/events.md`.
    record AgentCall(
            Kind kind,
            EventHeader header,
            @Nullable Text what,
            Endpoint local,
            Endpoint remote,
            @Nullable Text host,
            String detail)
            implements Event {}

    /// A piece of the policy by which the egress gateway decides, in canonical form: `digest` is the whole
    /// policy's, detail is JSON.
    record EgressPolicy(EventHeader header, String digest, String detail) implements Event {
        @Override
        public Kind kind() {
            return Kind.EGRESS_POLICY;
        }
    }

    /// A command to the run's recorder, or a trial of the way that it takes. `what` is `pause`, `resume` or
    /// `kill`, of a `control.probe` what the machine was doing: `running`, `paused`, or `failed` if that could
    /// not be learnt; detail is JSON: see `schemas/events.md`.
    record Control(Kind kind, EventHeader header, String what, String detail) implements Event {}

    /// The service's own record of who asked it what. `what` is the method and the route of a request, how an
    /// answer ended, or the digest of all grants; `subject` is who asks, null if nobody was recognised; detail is
    /// JSON: see `schemas/events.md`.
    ///
    /// @param remote where the request came from; null of grants
    /// @param bytes of the answer's body that were sent; null of all but answers
    record Access(
            Kind kind,
            EventHeader header,
            String what,
            @Nullable Text subject,
            @Nullable Endpoint remote,
            @Nullable Long bytes,
            String detail)
            implements Event {}

    /// The run's first leaf. `name` is what the user called the run; detail is JSON: see `schemas/events.md`.
    record RunOpen(EventHeader header, @Nullable Text name, String detail) implements Event {
        @Override
        public Kind kind() {
            return Kind.RUN_OPEN;
        }
    }

    /// The run's close: number of leaves before it, events lost in all, and how the agent ended.
    record RunClose(
            EventHeader header,
            long events,
            long lost,
            @Nullable Integer exitCode,
            @Nullable Integer signal,
            @Nullable String detail)
            implements Event {
        @Override
        public Kind kind() {
            return Kind.RUN_CLOSE;
        }
    }
}
