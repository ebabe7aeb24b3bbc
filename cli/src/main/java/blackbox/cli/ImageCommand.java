package blackbox.cli;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.terminal.Narrator;
import blackbox.node.image.LocalImages;
import blackbox.vm.VmException;
import blackbox.vm.define.ImageDefinitions;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.GuestImageBuilder.ImageVerification;
import blackbox.vm.image.GuestImageBuilder.LockPolicy;
import blackbox.vm.image.ImageAdditions;
import blackbox.vm.machine.TierOption;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `blackbox image`: defines and builds guest images, lists them, and proves that they can be rebuilt.
@Command(
        name = "image",
        description = "Define, build, list and verify guest images.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            ImageInitCommand.class,
            ImageExportCommand.class,
            ImageImportCommand.class,
            ImageLocksCommand.class
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox image build             build the image 'default' (minutes; downloads packages once) and prepare",
            "                                   what the first recording on it needs",
            "  blackbox image build claude      an image with a coding agent; then: blackbox record --image claude …",
            "  blackbox image init my-agent.json   write a definition of your own to begin with",
            "  blackbox image list",
            "  blackbox image verify default    rebuild it from archived packages, offline, and compare bytes",
            "  blackbox image export default F  write its packages and QEMU's to a file, for a machine without a mirror"
        })
public final class ImageCommand {

    @Command(
            name = "build",
            description = {
                "Build an image: one that ships, or one of your own definition (`blackbox image init` writes one to begin with).",
                "npm packages are fetched with this machine's own npm and used if they have the SHA-512 of the definition's lock."
                        + " Their install scripts are not run."
            },
            mixinStandardHelpOptions = true,
            footerHeading = "%nExamples:%n",
            footer = {
                "  blackbox image build                build the image 'default'",
                "  blackbox image build claude         an agent's; also: pi",
                "  blackbox image build --from default my-agent.json",
                "  blackbox image build --lock RENEW   use the newest Debian packages, and record which"
            })
    int build(
            @Mixin CommonOptions common,
            @Parameters(
                            arity = "0..1",
                            paramLabel = "NAME|FILE",
                            defaultValue = LocalImages.DEFAULT,
                            completionCandidates = ShippedImages.class,
                            description =
                                    "An image that ships (${COMPLETION-CANDIDATES}), one that was imported or built here, or"
                                            + " the file of a definition, ending in .json (default: ${DEFAULT-VALUE}).")
                    String what,
            @Option(
                            names = "--from",
                            paramLabel = "NAME",
                            completionCandidates = ShippedImages.class,
                            description =
                                    "What a definition's file is based on (${COMPLETION-CANDIDATES}; default: what it says, or"
                                            + " else default).")
                    @Nullable
                    String from,
            @Option(
                            names = "--lock",
                            paramLabel = "POLICY",
                            defaultValue = "PREFER",
                            description =
                                    "Which Debian packages: PREFER those of the imported lock, or else of the one that ships or is"
                                            + " beside the file; REQUIRE the latter; or RENEW it (default: ${DEFAULT-VALUE}).")
                    LockPolicy lock,
            @Option(
                            names = "--mirror",
                            paramLabel = "URL",
                            description = "Package mirror (default: this machine's own apt sources).")
                    @Nullable
                    String mirror,
            @Option(
                            names = "--registry",
                            paramLabel = "URL",
                            description = "npm's registry (default: that of npm's own configuration).")
                    @Nullable
                    String registry)
            throws VmException {
        GuestImage image;
        try (var narrator = Narrator.onStandardError()) {
            var images = new LocalImages(common.ownDataFolder(), narrator::say);
            image = images.build(what, from, lock, new LocalImages.Mirrors(mirror, registry));
            images.prepare(TierOption.AUTO, image, mirror);
        }
        if (common.json()) {
            System.out.println(json(image));
        } else {
            System.out.println(image.name() + " " + image.digest());
        }
        return ExitCodes.OK;
    }

    @Command(
            name = "list",
            description = "List the images of this data folder.",
            mixinStandardHelpOptions = true,
            footerHeading = "%nExample:%n",
            footer = "  blackbox image list --json")
    int list(@Mixin CommonOptions common) throws VmException {
        var images = new LocalImages(common.dataFolder(), _ -> {}).list();
        if (common.json()) {
            var array = JsonNodeFactory.instance.arrayNode();
            images.forEach(image -> array.add(json(image)));
            System.out.println(array);
        } else if (images.isEmpty()) {
            System.err.println("there are no images yet; build one: blackbox image build");
        } else {
            images.forEach(image -> System.out.println(image.name() + "  " + image.digest()));
        }
        return ExitCodes.OK;
    }

    @Command(
            name = "verify",
            description = "Rebuild an image from its archived packages, offline, and compare every byte.",
            mixinStandardHelpOptions = true,
            footerHeading = "%nExample:%n",
            footer = "  blackbox image verify default       exits with 1 when a byte differs")
    int verify(@Mixin CommonOptions common, @Parameters(paramLabel = "NAME") String name) throws VmException {
        GuestImage image = new LocalImages(common.dataFolder(), _ -> {}).recorded(name);
        ImageVerification verification;
        try (var narrator = Narrator.onStandardError()) {
            verification = new LocalImages(common.dataFolder(), narrator::say).verify(image);
        } catch (VmException e) {
            if (e.code() != VmException.Code.IMAGE_CORRUPT) {
                throw e;
            }
            return cannotBeRebuilt(common, image, e);
        }
        ObjectNode node = JsonNodeFactory.instance.objectNode().put("image", verification.image());
        node.put("recorded", verification.recorded().toString())
                .put("rebuilt", verification.rebuilt().toString());
        node.put("identical", verification.identical());
        verification.differing().forEach(node.putArray("differing")::add);
        if (common.json()) {
            System.out.println(node);
        } else if (verification.identical()) {
            System.out.println(name + " was rebuilt and is identical: " + verification.rebuilt());
        } else {
            System.out.println(name + " was rebuilt and differs: recorded " + verification.recorded() + ", rebuilt "
                    + verification.rebuilt() + "; differing files: " + verification.differing()
                    + "; tools that changed: "
                    + verification.tools());
        }
        return verification.identical() ? ExitCodes.OK : ExitCodes.DOES_NOT_HOLD;
    }

    /// What the image was built from has changed, so it can no longer be shown to be reproducible.
    private static int cannotBeRebuilt(CommonOptions common, GuestImage image, VmException why) {
        if (common.json()) {
            System.out.println(JsonNodeFactory.instance
                    .objectNode()
                    .put("image", image.name())
                    .put("recorded", image.digest().toString())
                    .putNull("rebuilt")
                    .put("identical", false)
                    .put("why", why.getMessage()));
        } else {
            System.out.println(image.name() + " cannot be rebuilt: " + why.getMessage());
        }
        return ExitCodes.DOES_NOT_HOLD;
    }

    private static ObjectNode json(GuestImage image) {
        ObjectNode node = JsonNodeFactory.instance
                .objectNode()
                .put("name", image.name())
                .put("digest", image.digest().toString());
        long bytes = 0;
        for (String file : new String[] {GuestImage.KERNEL, GuestImage.INITRD, GuestImage.ROOT}) {
            node.put(file, image.sha256(file).toString());
            try {
                bytes += Files.size(image.file(file));
            } catch (IOException e) {
                throw CommandException.failed("cannot read " + image.file(file), e);
            }
        }
        node.put("bytes", bytes);
        ImageAdditions additions = image.record().definition().additions();
        if (additions != null) {
            node.put("from", additions.from());
            var npm = node.putArray("npm");
            additions.npm().stream()
                    .filter(each -> each.npm().direct())
                    .forEach(each -> npm.add(each.npm().spec()));
            node.put("npmPackages", additions.npm().size())
                    .put("files", additions.files().size());
            additions.environment().keySet().forEach(node.putArray("environment")::add);
        }
        return node;
    }

    /// For shells to complete.
    static final class ShippedImages implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return ImageDefinitions.SHIPPED.iterator();
        }
    }
}
