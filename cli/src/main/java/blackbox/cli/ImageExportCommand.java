package blackbox.cli;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.terminal.Narrator;
import blackbox.evidence.text.Printable;
import blackbox.vm.VmException;
import blackbox.vm.carry.ArchiveManifest;
import blackbox.vm.carry.ImageExport;
import blackbox.vm.carry.ImageExport.Existing;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `blackbox image export`: the packages of an image and of QEMU in one file.
@Command(
        name = "export",
        description = {
            "Write the packages of an image, and of every QEMU that is unpacked in the data folder, to one file.",
            "From this file, 'image import' and 'image build' make the same image elsewhere, without a mirror."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExample:%n",
        footer = "  blackbox image export default default.bbimage")
final class ImageExportCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common = new CommonOptions();

    @Parameters(index = "0", paramLabel = "NAME", description = "The image to export.")
    private String name = "";

    @Parameters(index = "1", paramLabel = "FILE", description = "The file to write.")
    private Path file = Path.of("");

    @Option(names = "--force", description = "Replace FILE if it exists.")
    private boolean force;

    @Override
    public Integer call() throws VmException {
        try (var narrator = Narrator.onStandardError()) {
            var written = new ImageExport(common.dataFolder().root(), narrator::say)
                    .write(name, file, force ? Existing.REPLACE : Existing.REFUSE);
            print(common, file, written.digest().toString(), written.manifest());
            return ExitCodes.OK;
        }
    }

    /// Prints what an archive holds, in the same form on export and on import, so that the two can be
    /// compared.
    static void print(CommonOptions common, Path file, String digest, ArchiveManifest manifest) {
        var image = manifest.image();
        if (!common.json()) {
            System.out.println(file + " " + digest);
            System.out.println("image " + image.definition().name() + " " + image.digest());
            manifest.qemuVersions()
                    .forEach((build, version) -> System.out.println("qemu " + build + " " + Printable.of(version)));
            return;
        }
        ObjectNode node = JsonNodeFactory.instance.objectNode().put("file", file.toString());
        node.put("sha256", digest).put("objects", manifest.objects().size()).put("bytes", manifest.bytes());
        node.putObject("image").put("name", image.definition().name()).put("digest", image.digest());
        var qemu = node.putArray("qemu");
        manifest.qemuVersions()
                .forEach((build, version) ->
                        qemu.addObject().put("digest", build).put("version", version));
        System.out.println(node);
    }
}
