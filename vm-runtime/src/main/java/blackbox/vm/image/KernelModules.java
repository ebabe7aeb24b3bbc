package blackbox.vm.image;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The modules of an unpacked kernel package, with what each needs, read from the modules themselves (`depends=` in
/// their `.modinfo` section): the build machine needs no kmod and no depmod.
final class KernelModules {
    private static final Pattern DEPENDS = Pattern.compile("\0depends=([^\0]*)\0");

    private final Map<String, Path> files;
    private final Set<String> builtin;

    /// @param folder `lib/modules/RELEASE` of the package
    KernelModules(Path folder) throws VmException {
        try (Stream<Path> all = Files.walk(folder)) {
            files = all.filter(file -> file.toString().endsWith(".ko"))
                    .collect(Collectors.toMap(KernelModules::name, file -> file, (a, b) -> a, TreeMap::new));
            builtin = Files.readAllLines(folder.resolve("modules.builtin")).stream()
                    .map(line -> name(Path.of(line)))
                    .collect(Collectors.toSet());
        } catch (IOException e) {
            throw new VmException(Code.IO, "the kernel's modules could not be read", e);
        }
    }

    /// File name → content, in the order in which they must be loaded; modules built into the kernel are left out.
    Map<String, byte[]> withDependencies(List<String> wanted) throws VmException {
        var ordered = new LinkedHashMap<String, byte[]>();
        for (String module : wanted) {
            add(canonical(module), ordered);
        }
        return ordered;
    }

    private void add(String module, Map<String, byte[]> ordered) throws VmException {
        Path file = files.get(module);
        if (file == null) {
            if (builtin.contains(module)) {
                return;
            }
            throw new VmException(Code.IMAGE_DEFINITION, "the kernel package has no module '" + module + "'");
        }
        String fileName = file.getFileName().toString();
        if (ordered.containsKey(fileName)) {
            return;
        }
        byte[] content = read(file);
        for (String needed : dependencies(content)) {
            add(canonical(needed), ordered);
        }
        ordered.put(fileName, content);
    }

    private static byte[] read(Path file) throws VmException {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new VmException(Code.IO, "the module " + file + " could not be read", e);
        }
    }

    private static List<String> dependencies(byte[] module) {
        var found = DEPENDS.matcher(new String(module, StandardCharsets.ISO_8859_1));
        var names = new ArrayList<String>();
        if (found.find()) {
            Stream.of(found.group(1).split(",")).filter(name -> !name.isEmpty()).forEach(names::add);
        }
        return names;
    }

    private static String name(Path file) {
        String name = String.valueOf(file.getFileName());
        return canonical(name.endsWith(".ko") ? name.substring(0, name.length() - 3) : name);
    }

    private static String canonical(String module) {
        return module.replace('-', '_');
    }
}
