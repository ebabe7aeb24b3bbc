package blackbox.vm.define;

import blackbox.vm.VmException;
import blackbox.vm.image.ImageDefinition;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Where the files are that a definition names.
interface Beside {
    long LOCK_BYTES_MAX = 32L << 20;

    /// The content of the npm lock that a field names.
    byte[] lock(DefinitionField name) throws VmException;

    /// The file or folder that a field names.
    Path file(DefinitionField name) throws VmException;

    /// Beside a definition's own file.
    ///
    /// @param folder where that is
    record InFolder(Path folder) implements Beside {
        @Override
        public byte[] lock(DefinitionField name) throws VmException {
            Path file = file(name);
            try {
                if (!Files.isRegularFile(file) || Files.size(file) > LOCK_BYTES_MAX) {
                    throw name.refused(name.text() + " is not an npm lock of at most 32 MiB");
                }
                return Files.readAllBytes(file);
            } catch (IOException e) {
                throw name.refused(file + " could not be read", e);
            }
        }

        /// In the folder or below it, also when links have been followed: who builds an image of somebody
        /// else's definition gives it nothing but what came with it.
        @Override
        public Path file(DefinitionField name) throws VmException {
            String text = name.text();
            try {
                Path relative = Path.of(text);
                Path real = folder.resolve(relative).toRealPath();
                if (text.isEmpty() || relative.isAbsolute() || !real.startsWith(folder.toRealPath())) {
                    throw name.refused("'" + text + "' is not in the definition's own folder, " + folder
                            + "; copy it there, and name it relative to that");
                }
                return real;
            } catch (InvalidPathException e) {
                throw name.refused("'" + text + "' is not a path", e);
            } catch (IOException e) {
                throw name.refused("there is no readable '" + text + "' in " + folder + missing(text), e);
            }
        }

        private static String missing(String text) {
            return text.endsWith("package-lock.json")
                    ? "; npm writes one there: npm install --package-lock-only --ignore-scripts NAME@VERSION…"
                    : "";
        }
    }

    /// Among what ships with Blackbox: locks, and no other files.
    record Shipped() implements Beside {
        @Override
        public byte[] lock(DefinitionField name) throws VmException {
            String text = resource(name.text());
            if (text == null) {
                throw name.refused("this build lacks " + name.text());
            }
            return text.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public Path file(DefinitionField name) throws VmException {
            throw name.refused("a definition that ships has no files beside it; give 'text'");
        }

        private static @Nullable String resource(String name) throws VmException {
            return ImageDefinition.resource(name);
        }
    }
}
