package blackbox.vm.image;

import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The definition of a guest image: `images/NAME.json`.
///
/// @param format version of this form: 1
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
public record ImageDefinition(
        int format,
        String name,
        String suite,
        String architecture,
        List<String> packages,
        String kernel,
        String headers,
        List<String> modules,
        List<String> kernelArguments) {

    private static final int FORMAT = 1;
    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9-]{0,40}");
    private static final Pattern PACKAGE = Pattern.compile("[a-z0-9][a-z0-9+.-]+");

    public ImageDefinition {
        check(format == FORMAT, "format " + format + " is not supported, only " + FORMAT);
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

    /// The definition that ships with Blackbox under this name.
    ///
    /// @throws VmException `IMAGE_UNKNOWN` when there is none
    public static ImageDefinition named(String name) throws VmException {
        String text = matches(NAME, name) ? resource(name + ".json") : null;
        if (text == null) {
            throw new VmException(
                    Code.IMAGE_UNKNOWN,
                    "there is no image definition '" + name + "'; those that ship are default and node");
        }
        return parse(text);
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

    static @Nullable String resource(String file) throws VmException {
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
