package blackbox.node.doctor;

import blackbox.vm.VmException;
import blackbox.vm.host.StartTrial;
import blackbox.vm.image.BuildNamespace;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.ImageStore;
import blackbox.vm.image.Progress;
import blackbox.vm.machine.Accelerator;
import blackbox.vm.qemu.AcceleratorProbe;
import blackbox.vm.qemu.Qemu;
import blackbox.vm.qemu.QemuBuilds;
import blackbox.vm.qemu.QemuTrial;
import blackbox.vm.qemu.QemuTrial.Admission;
import blackbox.vm.qemu.TrialMachine;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What VMs can do here: images, the accelerator that a real boot has chosen, and the tiers.
final class Machines {

    private static final String ACCELERATOR = "accelerator";
    private static final String EXACT_QEMU = "qemu-exact";
    private static final String DEFAULT_TIER = "tier-default";
    private static final String BUILD = "blackbox image build";
    private static final String FIX = "blackbox doctor --fix";

    private Machines() {}

    static List<Check> look(Path data) {
        var checks = new ArrayList<Check>();
        GuestImage image = image(data, checks);
        checks.add(build(data));
        checks.add(start(data, image));
        checks.add(accelerator(data, image));
        checks.add(Check.ok("tier-live", "records at full speed; a live run is never replayed exactly"));
        checks.add(Check.ok("tier-exact", "records every instruction, emulated; with the QEMU of " + EXACT_QEMU));
        Check exact = exactQemu(data, image);
        checks.add(exact);
        checks.add(byDefault(data, image, exact));
        return checks;
    }

    /// What `record` takes where nobody names a tier, as far as it is known without a trial.
    private static Check byDefault(Path data, @Nullable GuestImage image, Check exact) {
        try {
            boolean emulated = AcceleratorProbe.withoutKvm() != null
                    || image != null
                            && AcceleratorProbe.choose(data, Qemu.find(data), image)
                                            .kind()
                                    == Accelerator.Kind.TCG;
            if (!emulated) {
                return image == null
                        ? Check.absent(DEFAULT_TIER, "live where a kernel boots under /dev/kvm, else exact", BUILD)
                        : Check.ok(DEFAULT_TIER, "live: KVM works, and an exact recording would do without");
            }
            return exact.state() == Check.State.OK
                    ? Check.ok(DEFAULT_TIER, "exact: the guest is emulated in any case")
                    : Check.absent(DEFAULT_TIER, "live, until there is a QEMU for the exact tier", FIX);
        } catch (VmException e) {
            return Check.missing(DEFAULT_TIER, String.valueOf(e.getMessage()), "see above");
        }
    }

    private static @Nullable GuestImage image(Path data, List<Check> checks) {
        try {
            GuestImage image = new ImageStore(data).find("default");
            checks.add(Check.ok("image", image.name() + " " + image.digest()));
            return image;
        } catch (VmException e) {
            checks.add(Check.missing("image", String.valueOf(e.getMessage()), BUILD));
            return null;
        }
    }

    /// Tries the namespaces that a build is made in.
    private static Check build(Path data) {
        String name = "image-build";
        try {
            BuildNamespace.check(Files.isDirectory(data) ? data : Path.of(System.getProperty("java.io.tmpdir")));
            return Check.ok(name, "packages can be installed by " + System.getProperty("user.name"));
        } catch (VmException e) {
            return Check.missing(name, String.valueOf(e.getMessage()), "mend what it says; recording does not need it");
        }
    }

    /// Starts QEMU on files as a recording has them, and ends it before it has run anything.
    private static Check start(Path data, @Nullable GuestImage image) {
        String name = "vm-start";
        if (image == null) {
            return Check.absent(name, "not tried yet: there is no image to start", BUILD);
        }
        try {
            StartTrial.run(data, Qemu.find(data));
            return Check.ok(name, "QEMU starts as " + System.getProperty("user.name") + " on files in " + data);
        } catch (VmException e) {
            return Check.missing(name, String.valueOf(e.getMessage()), "blackbox doctor, once that is mended");
        }
    }

    private static Check accelerator(Path data, @Nullable GuestImage image) {
        try {
            Accelerator accelerator = image == null
                    ? AcceleratorProbe.withoutKvm()
                    : AcceleratorProbe.choose(data, Qemu.find(data), image);
            return accelerator == null
                    ? Check.absent(
                            ACCELERATOR, "/dev/kvm is there; whether a kernel boots under it, an image tells", BUILD)
                    : Check.ok(ACCELERATOR, accelerator.kind() + ": " + accelerator.reason());
        } catch (VmException e) {
            return Check.missing(ACCELERATOR, String.valueOf(e.getMessage()), "see above");
        }
    }

    /// Gets what the exact tier needs and this machine lacks: a QEMU that a trial admits.
    ///
    /// @param mirror of Debian's packages, or null for the machine's own sources
    static void fix(Path data, @Nullable String mirror, Progress progress) throws VmException {
        var trial = new QemuTrial(data, TrialMachine.exact(), progress);
        new QemuBuilds(data, progress).forExact(trial, new ImageStore(data).find("default"), mirror);
    }

    /// Reports what trials have found, and makes none: one takes half a minute.
    private static Check exactQemu(Path data, @Nullable GuestImage image) {
        if (image == null) {
            return Check.absent(EXACT_QEMU, "not tried yet: a trial boots an image", BUILD);
        }
        var refused = new ArrayList<String>();
        var trial = new QemuTrial(data, TrialMachine.exact(), what -> {});
        try {
            for (Qemu qemu : new QemuBuilds(data, refused::add).all()) {
                Admission admission = trial.known(qemu, image);
                if (admission != null && admission.admitted()) {
                    return Check.ok(EXACT_QEMU, qemu.version() + " at " + qemu.place() + " " + admission.reason());
                }
                refused.add(qemu.version() + ": " + (admission == null ? "not tried yet" : admission.reason()));
            }
        } catch (VmException e) {
            refused.add(String.valueOf(e.getMessage()));
        }
        return Check.absent(EXACT_QEMU, String.join("; ", refused), FIX);
    }
}
