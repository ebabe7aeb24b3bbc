package blackbox.bench.result;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The file `bench/results.json`: an array of results, one for each name, in the form that the command-line
/// contract gives. Running a part of the suite replaces only that part's results.
public final class BenchReport {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path file;
    private final Map<String, ObjectNode> byName = new LinkedHashMap<>();

    private BenchReport(Path file) {
        this.file = file;
    }

    /// Opens the report with the results that earlier runs left in it.
    public static BenchReport open(Path file) throws IOException {
        var report = new BenchReport(file);
        if (Files.exists(file)) {
            JSON.readTree(file.toFile())
                    .forEach(node -> report.byName.put(node.path("name").asText(), (ObjectNode) node));
        }
        return report;
    }

    /// Adds a result, replacing an earlier one of the same name, and writes the file.
    ///
    /// @param machine as it was when the benchmark began
    public void add(BenchResult result, Machine machine) throws IOException {
        byName.put(result.name(), toJson(result, machine));
        List<String> lines = new ArrayList<>();
        for (ObjectNode node : byName.values()) {
            lines.add("  " + JSON.writeValueAsString(node));
        }
        Files.writeString(file, "[\n" + String.join(",\n", lines) + "\n]\n");
    }

    private static ObjectNode toJson(BenchResult result, Machine machine) {
        ObjectNode node = JSON.createObjectNode()
                .put("name", result.name())
                .put("value", result.value())
                .put("unit", result.unit());
        Goal goal = result.goal();
        node.put("goal", goal == null ? null : goal.text(result.unit(), result.beside()));
        node.put("met", result.met());
        BenchResult.Beside beside = result.beside();
        if (beside == null) {
            node.putNull("beside").put("alone", result.alone());
        } else {
            node.putObject("beside").put("name", beside.name()).put("value", beside.value());
        }
        node.putObject("machine")
                .put("cpu", machine.cpu())
                .put("cores", machine.cores())
                .put("accelerator", machine.accelerator())
                .put("loadAtStart", machine.loadAtStart());
        String note = result.note();
        return note == null ? node : node.put("note", note);
    }
}
