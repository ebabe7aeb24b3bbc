package blackbox.cli;

import blackbox.cli.output.StandardOutput;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/// Carries out one command after the other in one process: a [Request] on each line of standard input, each
/// answered with a line that is its exit code.
public final class CommandSeries {

    /// A command line and the files for what it prints.
    public record Request(List<String> arguments, String out, String err) {
        public Request(List<String> arguments, Path out, Path err) {
            this(arguments, out.toString(), err.toString());
        }
    }

    private CommandSeries() {}

    public static void main(String[] none) throws IOException {
        PrintStream answers = System.out;
        var requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.setIn(InputStream.nullInputStream());
        var json = new ObjectMapper();
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            answers.println(answer(json.readValue(line, Request.class)));
        }
    }

    private static int answer(Request request) throws IOException {
        try (var out = new FileOutputStream(request.out());
                var err = new PrintStream(new FileOutputStream(request.err()), true, StandardCharsets.UTF_8)) {
            var output = new StandardOutput(out);
            System.setOut(output.stream(StandardCharsets.UTF_8));
            System.setErr(err);
            int code = Main.run(request.arguments().toArray(String[]::new));
            System.out.flush();
            return output.code(code, request.arguments().getFirst().equals("record"), err);
        }
    }
}
