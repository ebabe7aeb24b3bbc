package blackbox.vm.define;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.define.DerivedDefinition.FilePart;
import blackbox.vm.define.DerivedDefinition.NpmPart;
import blackbox.vm.image.ImageAdditions;
import blackbox.vm.image.ImageDefinition;
import blackbox.vm.npm.NpmLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads the definition of an image that is based on another one. Whatever is wrong is refused with its line
/// and field, and with what to write instead; nothing that the reader does not know is passed over.
final class DefinitionReader {
    /// What a definition is based on that does not say.
    static final String FROM = "default";

    private static final int FORMAT = 1;
    private static final List<String> FIELDS =
            List.of("format", "name", "from", "packages", "npm", "files", "environment");
    private static final Pattern MODE = Pattern.compile("0[0-7]{3}");
    private static final int FILES_MAX = 20_000;

    private final Beside beside;

    DefinitionReader(Beside beside) {
        this.beside = beside;
    }

    /// Whether a text is such a definition and not a complete one, which says what its kernel is.
    static boolean isDerived(String text, String label) throws VmException {
        return !DefinitionField.read(text, label).fields().containsKey("kernel");
    }

    /// @throws VmException `IMAGE_DEFINITION`
    DerivedDefinition read(String text, String label) throws VmException {
        DefinitionField whole = DefinitionField.read(text, label);
        Map<String, DefinitionField> fields = whole.fields(FIELDS);
        DefinitionField format = fields.get("format");
        if (format == null || !Integer.valueOf(FORMAT).equals(format.value())) {
            throw (format == null ? whole : format)
                    .refused("it needs \"format\": " + FORMAT + ", the only one that there is");
        }
        DefinitionField from = fields.get("from");
        return new DerivedDefinition(
                label,
                text,
                name(whole, fields.get("name")),
                from == null ? FROM : from.text(),
                packages(fields.get("packages")),
                npm(fields.get("npm")),
                files(fields.get("files")),
                environment(fields.get("environment")));
    }

    private static String name(DefinitionField whole, @Nullable DefinitionField field) throws VmException {
        if (field == null) {
            throw whole.refused("it needs a \"name\", by which record --image knows the image");
        }
        if (!ImageDefinition.isName(field.text())) {
            throw field.refused(
                    "'" + field.text() + "' is not a name: lower-case letters, digits and dashes, at most 41");
        }
        return field.text();
    }

    private static List<String> packages(@Nullable DefinitionField field) throws VmException {
        var packages = new ArrayList<String>();
        for (DefinitionField each : field == null ? List.<DefinitionField>of() : field.elements()) {
            if (!ImageDefinition.isPackageName(each.text())) {
                throw each.refused("'" + each.text() + "' is not the name of a Debian package");
            }
            packages.add(each.text());
        }
        return packages;
    }

    private @Nullable NpmPart npm(@Nullable DefinitionField field) throws VmException {
        if (field == null) {
            return null;
        }
        Map<String, DefinitionField> fields = field.fields(List.of("lock", "withoutScripts"));
        DefinitionField lock = fields.get("lock");
        if (lock == null) {
            throw field.refused(
                    "it needs a \"lock\": npm's package-lock.json, which names each package by its SHA-512");
        }
        DefinitionField scripted = fields.get("withoutScripts");
        Set<String> withoutScripts = new HashSet<>();
        for (DefinitionField each : scripted == null ? List.<DefinitionField>of() : scripted.elements()) {
            withoutScripts.add(each.text());
        }
        byte[] text = beside.lock(lock);
        return new NpmPart(lock.text(), text, NpmLock.read(text, lock.text(), withoutScripts));
    }

    private List<FilePart> files(@Nullable DefinitionField field) throws VmException {
        var files = new TreeMap<String, FilePart>();
        for (DefinitionField each : field == null ? List.<DefinitionField>of() : field.elements()) {
            for (FilePart part : parts(each)) {
                if (files.put(part.path(), part) != null) {
                    throw each.refused("there is another file for " + part.path() + " already");
                }
                if (files.size() > FILES_MAX) {
                    throw each.refused("more than " + FILES_MAX + " files; an image of a package for them is smaller");
                }
            }
        }
        for (String each : files.keySet()) {
            for (int at = each.lastIndexOf('/'); at > 0; at = each.lastIndexOf('/', at - 1)) {
                if (files.containsKey(each.substring(0, at)) && field != null) {
                    throw field.refused(each.substring(0, at) + " is a file, and so nothing can be below it: " + each);
                }
            }
        }
        return List.copyOf(files.values());
    }

    /// The files of one element: several where it names a folder.
    private List<FilePart> parts(DefinitionField field) throws VmException {
        Map<String, DefinitionField> fields = field.fields(List.of("path", "from", "text", "mode"));
        DefinitionField path = fields.get("path");
        DefinitionField from = fields.get("from");
        DefinitionField text = fields.get("text");
        if (path == null || (from == null) == (text == null)) {
            throw field.refused("it needs a \"path\" in the guest, and either \"from\", a file or folder beside the"
                    + " definition, or \"text\", its content");
        }
        String mode = mode(fields.get("mode"));
        if (text != null) {
            return List.of(part(path, path.text(), mode == null ? "0644" : mode, null, text.text()));
        }
        Path source = beside.file(from == null ? path : from);
        if (!Files.isDirectory(source)) {
            return List.of(part(path, path.text(), mode == null ? modeOf(source) : mode, source, null));
        }
        String below = path.text().replaceFirst("/+$", "");
        var parts = new ArrayList<FilePart>();
        for (Path each : below(source, field)) {
            parts.add(
                    part(path, below + "/" + source.relativize(each), mode == null ? modeOf(each) : mode, each, null));
        }
        return parts;
    }

    private static FilePart part(
            DefinitionField field, String path, String mode, @Nullable Path source, @Nullable String text)
            throws VmException {
        String fault = ImageAdditions.pathFault(path);
        if (fault != null) {
            throw field.refused("'" + path + "' " + fault);
        }
        if (source != null && !Files.isReadable(source)) {
            throw field.refused(source + " cannot be read");
        }
        return new FilePart(path, mode, source, text);
    }

    private static List<Path> below(Path folder, DefinitionField field) throws VmException {
        try (Stream<Path> all = Files.walk(folder)) {
            var files = new ArrayList<Path>();
            for (Path each : all.sorted().toList()) {
                if (Files.isRegularFile(each, LinkOption.NOFOLLOW_LINKS)) {
                    files.add(each);
                } else if (!Files.isDirectory(each, LinkOption.NOFOLLOW_LINKS)) {
                    throw field.refused(each + " is neither a file nor a folder; links and devices are not taken");
                }
            }
            if (files.isEmpty()) {
                throw field.refused(folder + " has no files");
            }
            return files;
        } catch (IOException e) {
            throw field.refused(folder + " could not be listed", e);
        }
    }

    /// Like git: of a file's mode only whether its owner may execute it, for the rest is the owner's umask.
    private static String modeOf(Path file) throws VmException {
        try {
            return Files.getPosixFilePermissions(file).contains(PosixFilePermission.OWNER_EXECUTE) ? "0755" : "0644";
        } catch (IOException e) {
            throw new VmException(Code.IO, "the mode of " + file + " could not be read", e);
        }
    }

    private static @Nullable String mode(@Nullable DefinitionField field) throws VmException {
        if (field != null && !MODE.matcher(field.text()).matches()) {
            throw field.refused(
                    "'" + field.text() + "' is not a mode; write four octal digits, such as \"0644\" or \"0755\"");
        }
        return field == null ? null : field.text();
    }

    private static SortedMap<String, String> environment(@Nullable DefinitionField field) throws VmException {
        var environment = new TreeMap<String, String>();
        if (field != null) {
            for (Map.Entry<String, DefinitionField> each : field.fields().entrySet()) {
                String value = each.getValue().text();
                String fault = ImageAdditions.variableFault(each.getKey(), value);
                if (fault != null) {
                    throw each.getValue().refused("the variable " + fault);
                }
                environment.put(each.getKey(), value);
            }
        }
        return environment;
    }
}
