package blackbox.query.why;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// What a program was given to do, without what coding agents wrap around it: a shell that is given a
/// script (`sh -c`, `bash -lc`, Codex also behind the helper that makes its sandbox), an interpreter a
/// program, a script that evaluates the command and notes the directory afterwards (Claude Code), or one
/// that asks for its exit code (Gemini CLI).
final class Harness {

    private static final Set<String> SHELLS = Set.of("sh", "bash", "dash", "zsh", "ash", "ksh", "mksh", "fish");
    private static final Pattern INTERPRETERS =
            Pattern.compile("python[0-9.]*|node|nodejs|bun|perl|ruby|codex.*|apply_patch");
    private static final Pattern PROGRAM_FOLLOWS = Pattern.compile("-c|-e|--eval|--codex-run-as-apply-patch");
    private static final Pattern SCRIPT_FOLLOWS = Pattern.compile("-[a-zA-Z]*c");
    private static final Pattern QUOTED = Pattern.compile("(?:^|[\\s;&|])(?:eval\\s+|-[a-zA-Z]*c\\s+(?=['\"]))");
    private static final String BRACE = "{ ";
    private static final String BRACE_ENDS = "; }; __code=$?;";

    /// Claude Code keeps a command from reading the terminal.
    private static final Pattern NO_INPUT = Pattern.compile(" \\\\?< /dev/null");

    /// Of scripts within a script; more are not looked at.
    private static final int QUOTED_MAX = 16;

    private Harness() {}

    /// All that a program's arguments may be the wrapping of, [plain][#plain].
    static List<String> commands(List<String> argv) {
        var commands = new LinkedHashSet<String>();
        for (int i = 0; i < argv.size() - 1; i++) {
            String name = name(argv.get(i));
            if (INTERPRETERS.matcher(name).matches()
                    && (name.equals("apply_patch")
                            || PROGRAM_FOLLOWS.matcher(argv.get(i + 1)).matches())) {
                commands.add(plain(argv.get(name.equals("apply_patch") ? i + 1 : Math.min(i + 2, argv.size() - 1))));
            }
            if (SHELLS.contains(name)) {
                int script = script(argv, i + 1);
                if (script > 0) {
                    within(argv.get(script), commands);
                }
            }
        }
        commands.remove("");
        return new ArrayList<>(commands);
    }

    /// A command without what does not change it.
    static String plain(String command) {
        String text = command.replace("\r\n", "\n").strip();
        while (text.endsWith(";")) {
            text = text.substring(0, text.length() - 1).strip();
        }
        return text;
    }

    private static String name(String program) {
        String name = program.substring(program.lastIndexOf('/') + 1);
        return name.startsWith("-") ? name.substring(1) : name; // a login shell
    }

    /// Where the script is, 0 if there is none: the first argument after `-c` that is no option.
    private static int script(List<String> argv, int from) {
        boolean follows = false;
        for (int i = from; i < argv.size(); i++) {
            String word = argv.get(i);
            if (!word.startsWith("-") && !word.startsWith("+")) {
                return follows ? i : 0;
            }
            follows |= SCRIPT_FOLLOWS.matcher(word).matches();
        }
        return 0;
    }

    private static void within(String script, Set<String> commands) {
        add(script, commands);
        int from = script.indexOf(BRACE);
        int to = script.lastIndexOf(BRACE_ENDS);
        if (from >= 0 && to > from) {
            add(script.substring(from + BRACE.length(), to), commands);
        }
        Matcher quoted = QUOTED.matcher(script);
        for (int i = 0; i < QUOTED_MAX && quoted.find(); i++) {
            String word = ShellWords.word(script, quoted.end());
            if (word != null) {
                add(word, commands);
            }
        }
    }

    private static void add(String command, Set<String> commands) {
        commands.add(plain(command));
        commands.add(plain(NO_INPUT.matcher(command).replaceAll("")));
    }
}
