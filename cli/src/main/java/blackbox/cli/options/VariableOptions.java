package blackbox.cli.options;

import blackbox.cli.argv.GivenEnvironment;
import blackbox.cli.exit.CommandException;
import blackbox.schemas.OctetText;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Option;

/// The variables of the agent's environment; add it as `@Mixin`. Their values are secrets: no message repeats one,
/// and picocli, which interprets quotes in a value and prints what it cannot parse, gets to see strings only.
public final class VariableOptions {
    private static final int FILE_BYTES_MAX = 1 << 20;

    @Option(
            names = "--env",
            paramLabel = "NAME[=VALUE]",
            description = "A variable of the command's environment; without a value, that of this process."
                    + " Recordings keep only names. Until this program hides them, every user of this host can"
                    + " read its arguments, so give secrets by NAME alone or in a file.")
    private List<String> given = new ArrayList<>();

    @Option(
            names = "--env-file",
            paramLabel = "FILE",
            description = "Variables as lines NAME=VALUE or NAME; empty lines and lines that start with # are"
                    + " ignored, and quotes belong to the value. --env takes precedence.")
    private List<Path> files = new ArrayList<>();

    /// Whether there are any.
    public boolean areGiven() {
        return !given.isEmpty() || !files.isEmpty();
    }

    /// The values by name, each as [OctetText]; the last of a name counts.
    ///
    /// @throws CommandException when one has no name, or no value anywhere; it names the variable or the line only
    public Map<String, String> values() {
        var values = new LinkedHashMap<String, String>();
        Map<String, String> own = null;
        var lines = new ArrayList<Line>();
        files.forEach(file -> lines.addAll(linesOf(file)));
        given.forEach(each -> lines.add(new Line("--env", each)));
        for (Line line : lines) {
            int equals = line.text.indexOf('=');
            if (equals == 0 || line.text.isEmpty()) {
                throw CommandException.badInput(line.where + " takes NAME=VALUE or NAME");
            }
            if (equals > 0) {
                values.put(line.text.substring(0, equals), line.text.substring(equals + 1));
                continue;
            }
            own = own == null ? ownEnvironment() : own;
            String value = own.get(line.text);
            if (value == null) {
                throw CommandException.badInput(line.where + ": the variable " + OctetText.shown(line.text)
                        + " is not set here; set it, or give NAME=VALUE");
            }
            values.put(line.text, value);
        }
        return values;
    }

    private record Line(String where, String text) {}

    private static List<Line> linesOf(Path file) {
        if (!Files.isReadable(file)) {
            throw CommandException.badInput("the file " + file + " cannot be read");
        }
        byte[] octets;
        try {
            if (Files.size(file) > FILE_BYTES_MAX) {
                throw CommandException.badInput("the file " + file + " is longer than 1 MiB");
            }
            octets = Files.readAllBytes(file);
        } catch (IOException e) {
            throw CommandException.failed("the file " + file + " cannot be read", e);
        }
        var lines = new ArrayList<Line>();
        int number = 0;
        for (String text : split(octets, '\n')) {
            number++;
            String line = text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
            if (!line.isBlank() && !line.startsWith("#")) {
                lines.add(new Line(file + ", line " + number, line));
            }
        }
        return lines;
    }

    /// The environment as the kernel has it; the JVM's own copy is decoded by the locale.
    private static Map<String, String> ownEnvironment() {
        var own = new TreeMap<String, String>();
        try {
            for (String each : split(GivenEnvironment.octets(), '\0')) {
                int equals = each.indexOf('=');
                if (equals > 0) {
                    own.putIfAbsent(each.substring(0, equals), each.substring(equals + 1));
                }
            }
        } catch (IOException e) {
            throw CommandException.failed("the environment of this process cannot be read", e);
        }
        return own;
    }

    private static List<String> split(byte[] octets, char end) {
        var parts = new ArrayList<String>();
        var part = new ByteArrayOutputStream();
        for (byte octet : octets) {
            if (octet == end) {
                parts.add(OctetText.of(part.toByteArray()));
                part.reset();
            } else {
                part.write(octet);
            }
        }
        if (part.size() > 0) {
            parts.add(OctetText.of(part.toByteArray()));
        }
        return parts;
    }
}
