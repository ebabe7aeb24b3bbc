package blackbox.cli;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.terminal.Narrator;
import blackbox.vm.VmException;
import blackbox.vm.carry.ImageImport;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// `blackbox image import`: imports what `image export` wrote.
@Command(
        name = "import",
        description = {
            "Check the whole of a file that 'image export' wrote, and import its packages.",
            "From then on, 'image build' and the exact tier's QEMU are made from these packages. You run what the author of the",
            "file put into it: compare the digest that is printed here with the one that the export printed."
        },
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"1:the file is truncated or altered; nothing was imported", "2:it is not an image archive"},
        footerHeading = "%nExample:%n",
        footer = "  blackbox image import default.bbimage && blackbox image build")
final class ImageImportCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common = new CommonOptions();

    @Parameters(paramLabel = "FILE", description = "The file to import.")
    private Path file = Path.of("");

    @Override
    public Integer call() throws VmException {
        ImageImport.Taken taken;
        try (var narrator = Narrator.onStandardError()) {
            taken = new ImageImport(common.ownDataFolder().root(), narrator::say).take(file);
        }
        ImageExportCommand.print(common, file, taken.digest().toString(), taken.manifest());
        if (!common.json()) {
            System.err.println("blackbox: " + taken.fresh() + " of "
                    + taken.manifest().objects().size() + " objects were new here; next: blackbox image build "
                    + taken.manifest().image().definition().name());
        }
        return ExitCodes.OK;
    }
}
