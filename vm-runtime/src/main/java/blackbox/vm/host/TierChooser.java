package blackbox.vm.host;

import blackbox.schemas.Progress;
import blackbox.vm.VmException;
import blackbox.vm.image.GuestImage;
import blackbox.vm.machine.Accelerator;
import blackbox.vm.machine.Tier;
import blackbox.vm.machine.TierChoice;
import blackbox.vm.machine.TierOption;
import blackbox.vm.qemu.AcceleratorProbe;
import blackbox.vm.qemu.Qemu;
import blackbox.vm.qemu.QemuBuilds;
import blackbox.vm.qemu.QemuTrial;
import blackbox.vm.qemu.TrialMachine;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Decides the tier of a recording. An exact one needs emulation: if KVM works, that is about ten times
/// slower; if not, the guest is emulated in either tier. `docs/decisions/0085-the-default-tier.md` has the
/// figures.
final class TierChooser {
    private final Path data;
    private final Qemu qemu;
    private final QemuBuilds builds;
    private final QemuTrial trial;
    private final Progress progress;

    /// @param data the data folder, below which answers are cached
    /// @param qemu the installed QEMU
    TierChooser(Path data, Qemu qemu, Progress progress) {
        this.data = data;
        this.qemu = qemu;
        this.builds = new QemuBuilds(data, progress);
        this.trial = new QemuTrial(data, TrialMachine.exact(), progress);
        this.progress = progress;
    }

    /// The tier of a recording with `image`. Boots trials for answers that are not known yet; fetches
    /// nothing.
    TierChoice choose(TierOption option, GuestImage image) throws VmException {
        return switch (option) {
            case LIVE -> new TierChoice(option, Tier.LIVE, "as requested");
            case EXACT -> new TierChoice(option, Tier.EXACT, "as requested");
            case AUTO -> auto(accelerator(image), image);
        };
    }

    private TierChoice auto(Accelerator accelerator, GuestImage image) throws VmException {
        return switch (accelerator.kind()) {
            case KVM -> auto(Tier.LIVE, accelerator.reason() + "; counting instructions would slow it down tenfold");
            case TCG ->
                builds.admitted(trial, image) == null
                        ? auto(Tier.LIVE, "no QEMU here can replay every instruction; 'blackbox doctor --fix' gets one")
                        : auto(Tier.EXACT, accelerator.reason() + " in any case");
        };
    }

    private static TierChoice auto(Tier tier, String reason) {
        return new TierChoice(TierOption.AUTO, tier, reason);
    }

    /// A QEMU for the exact tier; fetched if none of those here passes the trial.
    Qemu qemuForExact(GuestImage image, @Nullable String mirror) throws VmException {
        return builds.forExact(trial, image, mirror);
    }

    /// Fetches what [#choose] lacks for an exact recording, if it would be used. If it is not available, that
    /// is reported, but is a failure only if an exact recording was requested: otherwise recordings are live.
    ///
    /// @param option the requested tier of recordings
    /// @param mirror to fetch packages from instead of the machine's apt sources, or null
    void prepare(TierOption option, GuestImage image, @Nullable String mirror) throws VmException {
        if (option == TierOption.EXACT) {
            qemuForExact(image, mirror);
        } else if (option == TierOption.AUTO && accelerator(image).kind() == Accelerator.Kind.TCG) {
            try {
                qemuForExact(image, mirror);
            } catch (VmException e) {
                progress.say("recordings will be live, because no QEMU that can replay every instruction is available: "
                        + e.getMessage());
            }
        }
    }

    Accelerator accelerator(GuestImage image) throws VmException {
        return AcceleratorProbe.choose(data, qemu, image);
    }
}
