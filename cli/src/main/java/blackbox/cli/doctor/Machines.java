package blackbox.cli.doctor;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.ImageStore;
import blackbox.vm.machine.Accelerator;
import blackbox.vm.machine.AcceleratorProbe;
import blackbox.vm.machine.Qemu;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// What VMs can do here: images, the accelerator that a real boot has chosen, and the tiers.
final class Machines {

    private Machines() {}

    static List<Check> look(Path data) {
        var checks = new ArrayList<Check>();
        try {
            GuestImage image = new ImageStore(data).find("default");
            checks.add(Check.ok("image", image.name() + " " + image.digest()));
            Accelerator accelerator = AcceleratorProbe.choose(data, Qemu.find(data), image);
            checks.add(Check.ok("accelerator", accelerator.kind() + ": " + accelerator.reason()));
            checks.add(Check.ok("tier-live", "records at full speed; a live run is never replayed exactly"));
        } catch (VmException e) {
            String mend = e.code() == Code.IMAGE_UNKNOWN ? "blackbox image build" : "see above";
            checks.add(Check.missing(
                    e.code() == Code.IMAGE_UNKNOWN ? "image" : "vm", String.valueOf(e.getMessage()), mend));
        }
        checks.add(Check.absent("tier-exact", "not part of this version", "wait for the replay engine"));
        return checks;
    }
}
