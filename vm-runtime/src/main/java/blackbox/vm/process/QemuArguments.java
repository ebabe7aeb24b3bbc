package blackbox.vm.process;

import blackbox.schemas.folder.CaptureName;
import blackbox.vm.image.GuestImage;
import blackbox.vm.machine.Accelerator.Kind;
import blackbox.vm.machine.Network;
import blackbox.vm.machine.Tier;
import blackbox.vm.qemu.Qemu;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// QEMU's command line. QEMU runs in the machine's folder and every path is relative to it, so that the same
/// machine has the same command line in every run and on every host, ready to be sealed and compared.
///
/// A warm snapshot, and an exact recording made from it, depend on the devices, their order and their options:
/// no iothreads, no vhost, no 9p, threads for disk I/O, and `tx=timer,guest_announce=off` for the network,
/// which QEMU's record and replay needs.
public final class QemuArguments {
    /// Names in the machine's folder.
    public static final String IMAGE = "image";
    public static final String SNAPSHOT = "snapshot";
    public static final String QEMU = "qemu";
    static final String SOCKETS = "sockets";
    public static final String STATE = "state.disk";
    public static final String WORKSPACE_IN = "workspace-in.disk";
    public static final String WORKSPACE_OUT = "workspace-out.disk";
    public static final String RAM = "ram";
    static final String FRAMES_OUT = "frames-out.pcap";
    static final String FRAMES_IN = "frames-in.pcap";
    public static final String CONSOLE = "console.log";
    /// The folder for what the host stores of a run, if it stores anything.
    public static final String CAPTURE = "capture";
    /// QEMU's replay log, in the machine's folder: written by a recording, read by a replay.
    public static final String LOG = "replay.log";
    /// The input of an agent of the exact tier.
    static final String STDIN = "stdin.pipe";
    /// Where a machine of [#stepped] saves its devices.
    public static final String KEPT = "kept";
    /// The debugger's socket, among the sockets.
    public static final String GDB = "gdb";

    /// Names in the folder of the snapshot from which a machine is [#restored].
    public static final String BASE_RAM = "ram";

    public static final String BASE_STATE = "state.qcow2";

    /// What says that a snapshot's RAM is opened only for reading, and still is the guest's RAM.
    private static final String RAM_READ_ONLY = ",readonly=on,rom=off";

    /// Far more requests than any run makes: after this many, QEMU would rewrite the log's first sector, and no
    /// octet of the log may change once it is written.
    private static final String NEVER = Long.toString(Long.MAX_VALUE);

    private final List<String> argv = new ArrayList<>();
    private final Log log;

    /// Nanoseconds of the guest's time that an instruction takes, as a power of two, in new recordings. One:
    /// hardly any host executes more than a billion instructions per second, so the guest's clock is behind
    /// rather than ahead, which costs nothing to correct (`docs/decisions/0084-the-exact-tiers-clock.md`).
    public static final int INSTRUCTION_SHIFT = 0;

    /// What QEMU does with the log of what comes from outside.
    private enum Log {
        /// There is none: the live tier.
        NONE(null),
        /// Instructions are counted, and nothing is logged: the machine from which recordings start.
        COUNTED(""),
        RECORDED(",rr=record,rrfile=" + LOG),
        REPLAYED(",rr=replay,rrfile=" + LOG);

        private final @Nullable String file;

        Log(@Nullable String file) {
            this.file = file;
        }
    }

    /// Whether the writes to the state disk are logged.
    public enum BlockLog {
        /// Each is also appended to `capture/blocks`.
        KEPT,
        NONE
    }

    private QemuArguments(Log log) {
        this.log = log;
    }

    /// A machine that boots its kernel; its RAM is a file that can become a snapshot's.
    public static List<String> cold(MachineParts parts, Network network) {
        var arguments = new QemuArguments(parts.tier() == Tier.LIVE ? Log.NONE : Log.COUNTED);
        arguments.machine(parts, RAM + ",share=on");
        arguments.add(
                "-blockdev", "driver=raw,node-name=state,cache.no-flush=on,file.driver=file,file.filename=" + STATE);
        arguments.devices(network);
        return List.copyOf(arguments.argv);
    }

    /// The same machine with its RAM and state disk copy-on-write over a snapshot's.
    public static List<String> restored(MachineParts parts, Network network, BlockLog log) {
        return restored(parts, parts.tier() == Tier.LIVE ? Log.NONE : Log.RECORDED, network, log);
    }

    /// A machine of the exact tier that repeats what a [#restored] one did. It has no network at all: what came
    /// from the network comes from the log.
    public static List<String> replayed(MachineParts parts) {
        return restored(parts, Log.REPLAYED, Network.NONE, BlockLog.NONE);
    }

    /// The same, for a machine that is stopped midway and saved. Its RAM and its state disk are plain files of
    /// its own, because part of the content of a disk image in QEMU's format is in QEMU's memory.
    public static List<String> stepped(MachineParts parts) {
        var arguments = new QemuArguments(Log.REPLAYED);
        arguments.machine(parts, RAM + ",share=on");
        arguments.add(
                "-blockdev", "driver=raw,node-name=state,cache.no-flush=on,file.driver=file,file.filename=" + STATE);
        arguments.devices(Network.NONE);
        arguments.add("-drive", "if=none,id=kept-disk,node-name=" + KEPT + ",format=qcow2,file=" + KEPT);
        arguments.add("-gdb", "unix:" + SOCKETS + "/" + GDB + ",server=on,wait=off");
        arguments.add("-incoming", "defer");
        return List.copyOf(arguments.argv);
    }

    /// Whether the machine with this command line opens a snapshot's RAM only for reading.
    public static boolean opensRamReadOnly(List<String> argv) {
        return argv.stream().anyMatch(word -> word.endsWith(RAM_READ_ONLY));
    }

    private static List<String> restored(MachineParts parts, Log replay, Network network, BlockLog log) {
        var arguments = new QemuArguments(replay);
        arguments.machine(parts, SNAPSHOT + "/" + BASE_RAM + ",share=off" + (parts.ramReadOnly() ? RAM_READ_ONLY : ""));
        arguments.add(
                "-blockdev",
                "driver=qcow2,node-name=state-base,read-only=on,file.driver=file,file.filename=" + SNAPSHOT + "/"
                        + BASE_STATE);
        String overlay = log == BlockLog.KEPT ? "state-overlay" : "state";
        arguments.add(
                "-blockdev",
                "driver=qcow2,node-name=" + overlay
                        + ",backing=state-base,cache.no-flush=on,file.driver=file,file.filename=" + STATE);
        if (log == BlockLog.KEPT) {
            arguments.blockLog(overlay);
        }
        arguments.devices(network);
        arguments.add("-incoming", "defer");
        return List.copyOf(arguments.argv);
    }

    /// Puts a log of writes on top of a disk. A guest's flush neither waits for the log nor appears in it: the
    /// recorder, not the guest, makes the log durable before it seals a segment of it.
    private void blockLog(String overlay) {
        add(
                "-blockdev",
                "driver=file,node-name=state-log,cache.no-flush=on,filename=" + CAPTURE + "/"
                        + CaptureName.BLOCKS.text());
        add(
                "-blockdev",
                "driver=blklogwrites,node-name=state,cache.no-flush=on,file=" + overlay
                        + ",log=state-log,log-sector-size=512,log-super-update-interval=" + NEVER);
    }

    private void machine(MachineParts parts, String ram) {
        boolean emulated = parts.accelerator().kind() == Kind.TCG;
        int memoryMib = parts.size().memoryMib();
        argv.addAll(parts.qemu().program(QEMU));
        add("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-S");
        add("-machine", "q35,memory-backend=ram,usb=off,vmport=off,hpet=off,smm=off");
        add("-accel", emulated ? "tcg,thread=single" : "kvm");
        // A named model under TCG; under KVM the host's, except for instructions that no replay could answer.
        add(
                "-cpu",
                emulated ? "Nehalem" : "host,-rdrand,-rdseed",
                "-smp",
                Integer.toString(parts.size().cpus()),
                "-m",
                Integer.toString(memoryMib));
        add("-object", "memory-backend-file,id=ram,size=" + memoryMib + "M,mem-path=" + ram);
        add("-kernel", IMAGE + "/" + GuestImage.KERNEL, "-initrd", IMAGE + "/" + GuestImage.INITRD);
        // Emulated, there is no speculation to mitigate, and page-table isolation doubles the cost of a system call.
        String append = String.join(" ", parts.image().kernelArguments()) + (emulated ? " mitigations=off" : "");
        add("-append", append);
        add("-sandbox", Qemu.SANDBOX);
        if (log.file != null) {
            add("-icount", "shift=" + parts.instructionShift() + log.file);
        }
        // The board's clock follows the guest's time. In the exact tier it so need not be logged; and in both tiers the
        // captured frames of the two directions have times from one beginning, which QEMU would otherwise read from
        // the host's clock once for each (docs/decisions/0191-clock-and-memory-of-a-machine.md).
        add("-rtc", "base=2026-01-01T00:00:00,clock=vm");
    }

    private void devices(Network network) {
        add(
                "-blockdev",
                "driver=raw,node-name=root,read-only=on,file.driver=file,file.filename=" + IMAGE + "/"
                        + GuestImage.ROOT);
        add("-blockdev", "driver=raw,node-name=in,read-only=on,file.driver=file,file.filename=" + WORKSPACE_IN);
        add("-blockdev", "driver=raw,node-name=out,cache.no-flush=on,file.driver=file,file.filename=" + WORKSPACE_OUT);
        for (String disk : List.of("root", "state", "in", "out")) {
            // What is written to the state disk is logged as data: there are no discards, and zeros are octets like
            // any others.
            String plain = disk.equals("state") ? ",discard=off,write-zeroes=off" : "";
            add("-device", "virtio-blk-pci,drive=" + drive(disk) + plain);
        }
        network(network);
        if (log == Log.NONE) {
            // Not in the exact tier, where a snapshot made midway in a replay would lack its timer. There the guest
            // has only the entropy that it gets before its agent starts.
            add("-object", "rng-builtin,id=rng", "-device", "virtio-rng-pci,rng=rng");
        }
        add("-device", "virtio-serial-pci");
        for (MachineSockets.Port port : MachineSockets.Port.CHARACTER_DEVICES) {
            add("-chardev", backend(port));
            if (port == MachineSockets.Port.QMP) {
                add("-mon", "chardev=" + port.file() + ",mode=control");
            } else {
                add("-device", "virtserialport,chardev=" + port.file() + ",name=blackbox." + port.file());
            }
        }
        console();
    }

    /// The disk as the guest's device sees it: in the exact tier, what requests read and when they complete
    /// follows the log.
    private String drive(String disk) {
        if (log == Log.NONE) {
            return disk;
        }
        String readOnly = disk.equals("root") || disk.equals("in") ? ",read-only=on" : "";
        add("-blockdev", "driver=blkreplay,node-name=" + disk + "-logged,image=" + disk + readOnly);
        return disk + "-logged";
    }

    private void network(Network network) {
        switch (log) {
            case NONE -> netdevs(network).forEach(netdev -> add("-netdev", netdev));
            case RECORDED -> {
                List<String> direct = netdevs(network);
                List<String> logged = network == Network.GATEWAY ? hub(direct) : direct;
                logged.forEach(netdev -> add("-netdev", netdev));
            }
            // A hub with nothing else on it. (With a user network instead, a replay would need that network's
            // state, too.)
            case COUNTED, REPLAYED -> add("-netdev", "hubport,id=net,hubid=0");
        }
        // QEMU restarts the timer when a machine resumes; in the exact tier it must have expired by then.
        String atOnce = log == Log.NONE ? "" : ",x-txtimer=1";
        add("-device", "virtio-net-pci,netdev=net,tx=timer,guest_announce=off,romfile=" + atOnce);
        if (log != Log.NONE) {
            add("-object", "filter-replay,id=logged,netdev=net");
        }
        // One filter per direction: a frame's addresses are only the guest's claim, but the hypervisor knows its
        // queue. What QEMU calls rx is what its network backend receives, which is what the guest sends.
        add("-object", "filter-dump,id=frames-out,netdev=net,queue=rx,file=" + FRAMES_OUT);
        add("-object", "filter-dump,id=frames-in,netdev=net,queue=tx,file=" + FRAMES_IN);
    }

    /// Values of `-netdev`; the interface's own is called `net`. A snapshot includes the state of QEMU's user
    /// network and loads only if there is one: with a peer, it is restricted and no interface is connected to
    /// it.
    private static List<String> netdevs(Network network) {
        return switch (network) {
            case NONE -> List.of("user,id=net,restrict=on");
            case BUILT_IN -> List.of("user,id=net,restrict=off");
            case USER, PEER, GATEWAY ->
                List.of(
                        "stream,id=net,server=off,addr.type=unix,addr.path=" + SOCKETS + "/net",
                        "user,id=unconnected,restrict=on");
        };
    }

    /// The same behind a hub, to which the interface is connected as it will be in a replay. A socket that is
    /// full would otherwise make the interface wait, which is not logged: the last port, with nobody behind it,
    /// always takes a frame, so that the hub does, and frames wait at the socket's own port instead.
    private static List<String> hub(List<String> netdevs) {
        var behind = new ArrayList<String>();
        for (String netdev : netdevs) {
            behind.add(netdev.replace("id=net,", "id=out,"));
        }
        behind.addAll(List.of(
                "hubport,id=net,hubid=0", "hubport,id=out-port,hubid=0,netdev=out", "hubport,id=nobody,hubid=0"));
        return behind;
    }

    /// What is at our end of a port. In the exact tier the guest's bulk data goes to files, which never make it
    /// wait: QEMU does not log such waits.
    private String backend(MachineSockets.Port port) {
        String id = port.file();
        String socket = "socket,id=" + id + ",path=" + SOCKETS + "/" + id;
        String file = "file,id=" + id + ",path=" + CAPTURE + "/" + id;
        if (log == Log.NONE || port == MachineSockets.Port.QMP) {
            return socket;
        }
        return switch (port) {
            case CONTROL -> log == Log.REPLAYED ? file : socket + ",logfile=" + CAPTURE + "/" + id;
            case STDIO -> log == Log.REPLAYED ? file : file + ",input-path=" + STDIN;
            case EVENTS, QMP, NET -> file;
        };
    }

    private void console() {
        if (log == Log.NONE) {
            add("-chardev", "file,id=console,path=" + CONSOLE, "-serial", "chardev:console");
            return;
        }
        add("-chardev", "file,id=console,path=" + CAPTURE + "/" + CaptureName.CONSOLE.text());
        // QEMU logs what a character device receives when it is listed here. The board has four serial lines, so the
        // devices behind the fourth stay free to be those of the ports above.
        for (String device : List.of("chardev:console", "none", "none", "none", "chardev:control", "chardev:stdio")) {
            add("-serial", device);
        }
    }

    private void add(String... words) {
        argv.addAll(List.of(words));
    }
}
