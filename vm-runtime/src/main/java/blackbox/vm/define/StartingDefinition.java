package blackbox.vm.define;

import blackbox.files.AtomicFiles;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.image.ImageDefinition;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Writes a definition to begin with: a commented one, or a copy of an agent's that ships, with its npm lock.
public final class StartingDefinition {
    private static final String STARTING = "starting.txt";
    private static final String SUFFIX = ".json";

    private StartingDefinition() {}

    /// What to do about files that exist.
    public enum Existing {
        /// Fail.
        REFUSE,
        /// Replace them.
        REPLACE
    }

    /// Writes the definition, and beside it the npm lock of an agent that ships.
    ///
    /// @param file ending in `.json`; the image's name is made of its own
    /// @param agent one of [ImageDefinitions#AGENTS], or null
    /// @return the files that were written, the definition first
    /// @throws VmException `IMAGE_DEFINITION` when a file exists or the name cannot be one,
    ///     `IMAGE_UNKNOWN`, `IO`
    public static List<Path> write(Path file, @Nullable String agent, Existing existing) throws VmException {
        String name = name(file);
        var contents = new LinkedHashMap<Path, String>();
        if (agent == null) {
            String lock = name + ".lock";
            contents.put(
                    file,
                    resource(STARTING)
                            .replace("\"NAME\"", '"' + name + '"')
                            .replace("--image NAME", "--image " + name)
                            .replace("build FILE", "build " + file)
                            .replace("in LOCK", "in " + lock));
        } else {
            agent(file, agent, name, contents);
        }
        for (Path each : contents.keySet()) {
            if (existing == Existing.REFUSE && Files.exists(each, LinkOption.NOFOLLOW_LINKS)) {
                throw new VmException(
                        Code.IMAGE_DEFINITION,
                        each + " exists already; choose another name, or replace it with --force");
            }
        }
        for (Map.Entry<Path, String> each : contents.entrySet()) {
            try {
                Files.createDirectories(each.getKey().toAbsolutePath().getParent());
                AtomicFiles.onDisk().replace(each.getKey(), each.getValue().getBytes(StandardCharsets.UTF_8));
            } catch (IOException e) {
                throw new VmException(Code.IO, each.getKey() + " could not be written", e);
            }
        }
        return List.copyOf(contents.keySet());
    }

    private static void agent(Path file, String agent, String name, Map<Path, String> contents) throws VmException {
        if (!ImageDefinitions.AGENTS.contains(agent)) {
            throw new VmException(
                    Code.IMAGE_UNKNOWN,
                    "no definition of the agent '" + agent + "' ships; there are "
                            + String.join(", ", ImageDefinitions.AGENTS));
        }
        String text = ImageDefinitions.text(agent);
        String shipped = agent + ".package-lock.json";
        String lock = name + ".package-lock.json";
        contents.put(
                file,
                "// Based on Blackbox's definition of '" + agent + "'. Build it: blackbox image build " + file + "\n"
                        + text.substring(text.indexOf('{'))
                                .replace("\"name\": \"" + agent + '"', "\"name\": \"" + name + '"')
                                .replace('"' + shipped + '"', '"' + lock + '"'));
        contents.put(file.resolveSibling(lock), resource(shipped));
    }

    private static String name(Path file) throws VmException {
        String written = String.valueOf(file.getFileName());
        String name = written.endsWith(SUFFIX) ? written.substring(0, written.length() - SUFFIX.length()) : "";
        if (!ImageDefinition.isName(name) || ImageDefinitions.SHIPPED.contains(name)) {
            throw new VmException(
                    Code.IMAGE_DEFINITION,
                    "'" + written
                            + "' cannot be a definition's file: it is called like the image, with lower-case letters,"
                            + " digits and dashes and '.json' at its end, and no name that ships ("
                            + String.join(", ", ImageDefinitions.SHIPPED) + ")");
        }
        return name;
    }

    private static String resource(String name) throws VmException {
        String text = ImageDefinition.resource(name);
        if (text == null) {
            throw new IllegalStateException("this build lacks " + name);
        }
        return text;
    }
}
