package blackbox.cli;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.terminal.Narrator;
import blackbox.recorder.guest.TracerFiles;
import blackbox.vm.VmException;
import blackbox.vm.apt.LockDifference;
import blackbox.vm.carry.LockRenewal;
import blackbox.vm.image.GuestFiles;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `blackbox image locks`: renews the locks in Blackbox's sources; what `make locks` runs.
@Command(
        name = "locks",
        hidden = true,
        description = "Renew the package locks of the image 'default' and of QEMU in Blackbox's sources.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExample:%n",
        footer = "  blackbox image locks --write .")
final class ImageLocksCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common = new CommonOptions();

    @Option(
            names = "--write",
            required = true,
            paramLabel = "DIR",
            description = "The root folder of Blackbox's sources.")
    private Path sources = Path.of("");

    @Option(
            names = "--mirror",
            paramLabel = "URL",
            description = "Package mirror (default: this machine's own apt sources).")
    @Nullable
    private String mirror;

    @Override
    public Integer call() throws VmException {
        LockRenewal.Renewed renewed;
        try (var narrator = Narrator.onStandardError()) {
            renewed = new LockRenewal(common.dataFolder().root(), sources, narrator::say)
                    .renew(GuestFiles.with(TracerFiles.all()), mirror);
        }
        print("image " + renewed.image().name() + " " + renewed.image().digest(), renewed.imageChanges());
        print("qemu " + renewed.qemuDigest(), renewed.qemuChanges());
        return ExitCodes.OK;
    }

    private static void print(String what, List<LockDifference> changes) {
        System.out.println(what + ": " + (changes.isEmpty() ? "no package changed" : changes.size() + " changed"));
        changes.forEach(each -> System.out.println("  " + each.sentence()));
    }
}
