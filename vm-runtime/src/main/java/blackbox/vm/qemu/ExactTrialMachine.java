package blackbox.vm.qemu;

import java.util.ArrayList;
import java.util.List;

/// The devices of the exact tier, one of each kind: disk, network, a virtio port out of the guest, one in both
/// directions and a serial port into it.
final class ExactTrialMachine implements TrialMachine {
    static final String DISK = "disk";
    static final String EVENTS = "events";
    static final String CONSOLE = "console";
    private static final String STDIO = "stdio";

    @Override
    public List<String> arguments(Mode mode) {
        var argv = new ArrayList<String>();
        argv.addAll(List.of("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"));
        argv.addAll(List.of("-machine", "q35,usb=off,vmport=off,hpet=off,smm=off", "-accel", "tcg,thread=single"));
        argv.addAll(List.of("-cpu", "Nehalem", "-smp", "1", "-m", "256", "-rtc", "base=2026-01-01T00:00:00,clock=vm"));
        argv.addAll(List.of(
                "-blockdev",
                "driver=raw,node-name=disk-file,cache.no-flush=on,file.driver=file,file.filename=" + DISK));
        argv.addAll(List.of("-blockdev", "driver=blkreplay,node-name=disk,image=disk-file"));
        argv.addAll(List.of("-device", "virtio-blk-pci,drive=disk"));
        argv.addAll(List.of("-netdev", "user,id=net,restrict=on"));
        argv.addAll(List.of("-device", "virtio-net-pci,netdev=net,tx=timer,guest_announce=off,romfile=,x-txtimer=1"));
        argv.addAll(List.of("-object", "filter-replay,id=replay,netdev=net"));
        argv.addAll(List.of("-device", "virtio-serial-pci", "-chardev", "file,id=events,path=" + EVENTS));
        argv.addAll(List.of("-device", "virtserialport,chardev=events,name=blackbox.events"));
        argv.addAll(List.of("-chardev", "file,id=console,path=" + CONSOLE, "-serial", "chardev:console"));
        String control = mode == Mode.RECORD ? "stdio,id=control,signal=off" : "null,id=control";
        argv.addAll(List.of("-chardev", control, "-serial", "chardev:control", "-serial", "none", "-serial", "none"));
        // A port of the guest that also occupies a serial slot, after the board's four, so that its input is
        // logged.
        argv.addAll(List.of("-chardev", "file,id=stdio,path=" + STDIO + ",input-path=/dev/null"));
        argv.addAll(List.of("-device", "virtserialport,chardev=stdio,name=blackbox.stdio", "-serial", "chardev:stdio"));
        return argv;
    }
}
