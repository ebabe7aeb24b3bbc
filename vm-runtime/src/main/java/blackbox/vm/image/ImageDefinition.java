package blackbox.vm.image;

import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The definition of a guest image: `images/NAME.json`.
///
/// @param format version of this form: 1, or 2 with additions
/// @param name of the image: lower-case letters, digits and dashes
/// @param suite Debian release, as in an apt source
/// @param architecture Debian's name for it; only `amd64` is supported
/// @param packages besides the essential ones; their dependencies are installed too, their recommendations
///     are not
/// @param kernel package whose dependency is the kernel
/// @param headers package whose dependency is that kernel's headers, for the tracer's compiler
/// @param modules kernel modules for the initrd; modules that they need are added
/// @param kernelArguments for every boot; of those that change what the guest sees, the launcher adds only
///     `mitigations`
/// @param additions what is in the image besides Debian's packages; null for nothing
public record ImageDefinition(
        int format,
        String name,
        String suite,
        String architecture,
        List<String> packages,
        String kernel,
        String headers,
        List<String> modules,
        List<String> kernelArguments,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable ImageAdditions additions) {

    private static final int FORMAT = 1;
    private static final int FORMAT_WITH_ADDITIONS = 2;
    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9-]{0,40}");
    private static final Pattern PACKAGE = Pattern.compile("[a-z0-9][a-z0-9+.-]+");

    public ImageDefinition {
        check(
                format == (additions == null ? FORMAT : FORMAT_WITH_ADDITIONS),
                "format " + format + " is not supported, only " + FORMAT + ", and " + FORMAT_WITH_ADDITIONS
                        + " with additions");
        check(matches(NAME, name), "the name '" + name + "' may have only lower-case letters, digits and dashes");
        check(matches(PACKAGE, suite), "the suite '" + suite + "' is not a suite name");
        check("amd64".equals(architecture), "the architecture '" + architecture + "' is not supported, only amd64");
        packages = List.copyOf(packages);
        modules = List.copyOf(modules);
        kernelArguments = List.copyOf(kernelArguments);
        for (String each : packages) {
            check(matches(PACKAGE, each), "'" + each + "' is not a package name");
        }
        check(matches(PACKAGE, kernel) && matches(PACKAGE, headers), "kernel and headers must be package names");
    }

    /// A definition without additions.
    public ImageDefinition(
            int format,
            String name,
            String suite,
            String architecture,
            List<String> packages,
            String kernel,
            String headers,
            List<String> modules,
            List<String> kernelArguments) {
        this(format, name, suite, architecture, packages, kernel, headers, modules, kernelArguments, null);
    }

    /// The definition that ships with Blackbox under this name, of those that are based on no other one:
    /// `default` and `node`.
    ///
    /// @throws VmException `IMAGE_UNKNOWN` when there is none
    public static ImageDefinition named(String name) throws VmException {
        String text = isName(name) ? resource(name + ".json") : null;
        if (text == null) {
            throw new VmException(Code.IMAGE_UNKNOWN, "there is no image definition '" + name + "'");
        }
        return parse(text);
    }

    /// Whether an image can have this name.
    public static boolean isName(String name) {
        return matches(NAME, name);
    }

    /// Whether this can be the name of a Debian package.
    public static boolean isPackageName(String name) {
        return matches(PACKAGE, name);
    }

    /// A definition of another name, with more packages and without additions.
    public ImageDefinition extended(String other, List<String> more) {
        var all = new LinkedHashSet<>(packages);
        all.addAll(more);
        return new ImageDefinition(
                FORMAT, other, suite, architecture, List.copyOf(all), kernel, headers, modules, kernelArguments, null);
    }

    /// This definition with these additions.
    public ImageDefinition with(ImageAdditions more) {
        return new ImageDefinition(
                FORMAT_WITH_ADDITIONS,
                name,
                suite,
                architecture,
                packages,
                kernel,
                headers,
                modules,
                kernelArguments,
                more);
    }

    /// Reads a definition.
    ///
    /// @throws VmException `IMAGE_DEFINITION`
    public static ImageDefinition parse(String text) throws VmException {
        try {
            return Json.parse(text, ImageDefinition.class);
        } catch (JsonProcessingException e) {
            throw new VmException(Code.IMAGE_DEFINITION, "the image definition could not be read", e);
        }
    }

    /// A file that ships beside the definitions, or null.
    public static @Nullable String resource(String file) throws VmException {
        try (InputStream in = ImageDefinition.class.getResourceAsStream("/blackbox/vm/images/" + file)) {
            return in == null ? null : new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new VmException(Code.IO, "the resource " + file + " could not be read", e);
        }
    }

    private static boolean matches(Pattern pattern, @Nullable String text) {
        return text != null && pattern.matcher(text).matches();
    }

    private static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException("image definition: " + otherwise);
        }
    }
}
