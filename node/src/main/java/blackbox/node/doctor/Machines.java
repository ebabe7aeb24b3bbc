package blackbox.node.doctor;

import blackbox.node.image.LocalImages;
import blackbox.schemas.Progress;
import blackbox.vm.VmException;
import blackbox.vm.confine.Confinement;
import blackbox.vm.host.StartTrial;
import blackbox.vm.image.BuildNamespace;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.ImageStore;
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

/// What VMs can do here: images, the accelerator that a real boot selected, and the tiers.
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
        checks.add(Check.ok("tier-exact", "replays every instruction, emulated; needs " + EXACT_QEMU));
        Check exact = exactQemu(data, image);
        checks.add(exact);
        checks.add(byDefault(data, image, exact));
        return checks;
    }

    /// The tier that `record` chooses by default, as far as that is known without a trial.
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
                        : Check.ok(DEFAULT_TIER, "live: KVM works, and an exact recording could not use it");
            }
            return exact.state() == Check.State.OK
                    ? Check.ok(DEFAULT_TIER, "exact: the guest is emulated anyway")
                    : Check.absent(DEFAULT_TIER, "live, until there is a QEMU for the exact tier", FIX);
        } catch (VmException e) {
            return Check.missing(DEFAULT_TIER, String.valueOf(e.getMessage()), "see above");
        }
    }

    private static @Nullable GuestImage image(Path data, List<Check> checks) {
        try {
            GuestImage image = new ImageStore(data).find(LocalImages.DEFAULT);
            checks.add(Check.ok("image", image.name() + " " + image.digest()));
            return image;
        } catch (VmException e) {
            checks.add(Check.missing("image", String.valueOf(e.getMessage()), BUILD));
            return null;
        }
    }

    /// Tries out the namespaces that a build runs in.
    private static Check build(Path data) {
        String name = "image-build";
        try {
            BuildNamespace.check(Files.isDirectory(data) ? data : Path.of(System.getProperty("java.io.tmpdir")));
            return Check.ok(name, "packages can be installed by " + System.getProperty("user.name"));
        } catch (VmException e) {
            return Check.missing(
                    name, String.valueOf(e.getMessage()), "fix what the message says; recording does not need it");
        }
    }

    /// Starts QEMU on files like those of a recording, and ends it before it has run anything.
    private static Check start(Path data, @Nullable GuestImage image) {
        String name = "vm-start";
        if (image == null) {
            return Check.absent(name, "not tested yet: there is no image to start", BUILD);
        }
        try {
            StartTrial.run(data, Qemu.find(data));
            Confinement confinement = Confinement.ofThisProcess();
            String how = confinement.confines() ? ", confined by " + confinement.mechanism() : ", NOT confined";
            return Check.ok(name, "QEMU starts as " + System.getProperty("user.name") + " on files in " + data + how);
        } catch (VmException e) {
            return Check.missing(name, String.valueOf(e.getMessage()), "fix that, then run blackbox doctor again");
        }
    }

    private static Check accelerator(Path data, @Nullable GuestImage image) {
        try {
            Accelerator accelerator = image == null
                    ? AcceleratorProbe.withoutKvm()
                    : AcceleratorProbe.choose(data, Qemu.find(data), image);
            return accelerator == null
                    ? Check.absent(
                            ACCELERATOR,
                            "/dev/kvm exists; whether a kernel boots under it can be tested once there is an image",
                            BUILD)
                    : Check.ok(ACCELERATOR, accelerator.kind() + ": " + accelerator.reason());
        } catch (VmException e) {
            return Check.missing(ACCELERATOR, String.valueOf(e.getMessage()), "see above");
        }
    }

    /// Fetches what the exact tier needs and this machine lacks: a QEMU that passes the trial.
    ///
    /// @param mirror of Debian's packages, or null for the machine's own sources
    static void fix(Path data, @Nullable String mirror, Progress progress) throws VmException {
        var trial = new QemuTrial(data, TrialMachine.exact(), progress);
        new QemuBuilds(data, progress).forExact(trial, new ImageStore(data).find(LocalImages.DEFAULT), mirror);
    }

    /// Reports the results of earlier trials and runs none: one takes half a minute.
    private static Check exactQemu(Path data, @Nullable GuestImage image) {
        if (image == null) {
            return Check.absent(EXACT_QEMU, "not tested yet: the trial needs an image to boot", BUILD);
        }
        var refused = new ArrayList<String>();
        var trial = new QemuTrial(data, TrialMachine.exact(), what -> {});
        try {
            for (Qemu qemu : new QemuBuilds(data, refused::add).all()) {
                Admission admission = trial.known(qemu, image);
                if (admission != null && admission.admitted()) {
                    return Check.ok(EXACT_QEMU, qemu.version() + " at " + qemu.place() + " " + admission.reason());
                }
                refused.add(qemu.version() + ": " + (admission == null ? "not tested yet" : admission.reason()));
            }
        } catch (VmException e) {
            refused.add(String.valueOf(e.getMessage()));
        }
        return Check.absent(EXACT_QEMU, String.join("; ", refused), FIX);
    }
}
