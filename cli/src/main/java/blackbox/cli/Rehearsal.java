package blackbox.cli;

import blackbox.cli.exit.ExitCodes;
import java.io.IOException;
import java.util.Collections;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/// Runs several command lines in one process, one after the other; each is one argument, its words separated
/// by single spaces. The build makes the start-up cache from such a run, since the JVM makes a cache from one
/// process (`scripts/start-up-cache`). Ends with the first exit code that is not 0.
///
/// An argument that ends in `.jar` names a jar of the class path, all of whose classes are loaded: for
/// commands that the build cannot run, as it has no image.
final class Rehearsal {
    private static final String JAR = ".jar";
    private static final String CLASS = ".class";

    private Rehearsal() {}

    public static void main(String[] args) throws IOException, ClassNotFoundException {
        int code = ExitCodes.OK;
        String[] given = Main.given(args);
        Main.guard("rehearsal");
        for (String commandLine : given) {
            if (commandLine.endsWith(JAR)) {
                load(commandLine);
                continue;
            }
            code = Main.answer(commandLine.split(" ", -1));
            if (code != ExitCodes.OK) {
                System.err.println("rehearsal: exit code " + code + " of: blackbox " + commandLine);
                break;
            }
        }
        Main.end(code);
    }

    private static void load(String jar) throws IOException, ClassNotFoundException {
        try (var file = new JarFile(jar)) {
            for (JarEntry each : Collections.list(file.entries())) {
                String name = each.getName();
                if (name.endsWith(CLASS) && !name.endsWith("-info" + CLASS)) {
                    String type =
                            name.substring(0, name.length() - CLASS.length()).replace('/', '.');
                    Class.forName(type, false, Rehearsal.class.getClassLoader());
                }
            }
        }
    }
}
