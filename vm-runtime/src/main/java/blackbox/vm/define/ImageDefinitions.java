package blackbox.vm.define;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.image.ImageDefinition;
import blackbox.vm.image.ImageSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The definitions that images are built from: those that ship, and files of users.
///
/// @param registry of npm, instead of the configured one, or null
public record ImageDefinitions(@Nullable String registry) {
    /// The definitions that ship, those first that others are based on.
    public static final List<String> SHIPPED = List.of("default", "node", "claude", "pi");

    /// Those of [#SHIPPED] that are an agent's, with npm packages.
    public static final List<String> AGENTS = List.of("claude", "pi");

    private static final int DEFINITION_BYTES_MAX = 4 << 20;

    /// A definition that ships.
    ///
    /// @throws VmException `IMAGE_UNKNOWN` when there is none of this name
    public ImageSource shipped(String name) throws VmException {
        String text = text(name);
        String label = name + ".json";
        if (!DefinitionReader.isDerived(text, label)) {
            return ImageSource.shipped(ImageDefinition.named(name));
        }
        DerivedDefinition definition = new DefinitionReader(new Beside.Shipped()).read(text, label);
        return new DerivedImage(definition, shipped(definition.from()), null, registry);
    }

    /// A user's file.
    ///
    /// @param from name of a definition that ships, instead of the one that the file says; null for that
    /// @throws VmException `IMAGE_DEFINITION` with file, line and field
    public ImageSource read(Path file, @Nullable String from) throws VmException {
        String label = String.valueOf(file.getFileName());
        Path folder = file.toAbsolutePath().normalize().getParent();
        if (folder == null) {
            throw new VmException(Code.IMAGE_DEFINITION, file + " is not a file");
        }
        DerivedDefinition read = new DefinitionReader(new Beside.InFolder(folder)).read(content(file), label);
        if (SHIPPED.contains(read.name())) {
            throw new VmException(
                    Code.IMAGE_DEFINITION,
                    label + ": '" + read.name() + "' is the name of an image that ships with Blackbox; choose another"
                            + " name");
        }
        String base = from == null ? read.from() : from;
        if (!SHIPPED.contains(base)) {
            throw new VmException(
                    Code.IMAGE_DEFINITION,
                    (from == null ? label + ": \"from\"" : "--from") + " names '" + base
                            + "'; an image is based on one of " + String.join(", ", SHIPPED));
        }
        return new DerivedImage(
                read.basedOn(base), shipped(base), file.toAbsolutePath().normalize(), registry);
    }

    /// The text of a definition that ships.
    static String text(String name) throws VmException {
        String text = SHIPPED.contains(name) ? ImageDefinition.resource(name + ".json") : null;
        if (text == null) {
            throw new VmException(
                    Code.IMAGE_UNKNOWN,
                    "there is no image definition '" + name + "'; those that ship are " + String.join(", ", SHIPPED)
                            + ", and 'blackbox image init' writes one of your own");
        }
        return text;
    }

    private static String content(Path file) throws VmException {
        try {
            if (Files.isRegularFile(file) && Files.size(file) <= DEFINITION_BYTES_MAX) {
                return Files.readString(file);
            }
        } catch (IOException e) {
            throw new VmException(Code.IMAGE_DEFINITION, file + " could not be read as UTF-8 text", e);
        }
        throw new VmException(
                Code.IMAGE_DEFINITION,
                file + " is not a definition's file; 'blackbox image init " + file + "' writes one to begin with");
    }
}
