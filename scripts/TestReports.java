import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;

/// Judges a whole test run by Surefire's reports. Maven is told to continue after a failure, so that one module's
/// failing test does not hide the results of the others; this program gives the verdict. Skips are judged here,
/// too: with `CI=true`, a skipped test that is not in the list of allowed skips is a failure.
///
/// It also lists the classes that took longest, where a run can be shortened.
///
/// A JVM that died leaves no report, so a test class without one is a failure as well.
///
/// `java TestReports.java ALLOWED MODULE...`; exit 0 if everything is as expected, otherwise 1.
final class TestReports {
    private static final int SLOWEST = 10;

    private final List<String> passed = new ArrayList<>();
    private final List<String> failed = new ArrayList<>();
    private final List<String> skipped = new ArrayList<>();
    private final Map<String, Double> seconds = new HashMap<>();
    private final DocumentBuilder parser = DocumentBuilderFactory.newInstance().newDocumentBuilder();

    private TestReports() throws Exception {}

    public static void main(String[] args) throws Exception {
        var reports = new TestReports();
        for (int i = 1; i < args.length; i++) {
            reports.readModule(Path.of(args[i]));
        }
        System.exit(reports.judge(Path.of(args[0])) ? 0 : 1);
    }

    private boolean judge(Path allowedSkips) throws IOException {
        Set<String> allowed = Files.readAllLines(allowedSkips).stream()
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .map(line -> line.split("\\s+", 2)[0])
                .collect(Collectors.toSet());
        boolean good = failed.isEmpty() && !passed.isEmpty();
        failed.forEach(test -> System.out.println("FAILED: " + test));
        for (String skip : skipped) {
            boolean unexpected =
                    "true".equals(System.getenv("CI")) && !allowed.contains(skip.substring(0, skip.indexOf(':')));
            System.out.println((unexpected ? "SKIPPED, not named in " + allowedSkips + ": " : "skipped: ") + skip);
            good &= !unexpected;
        }
        printSlowest();
        System.out.printf("%d passed, %d failed, %d skipped%n", passed.size(), failed.size(), skipped.size());
        return good;
    }

    private void printSlowest() {
        System.out.println("the slowest classes:");
        seconds.entrySet().stream()
                .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
                .limit(SLOWEST)
                .forEach(each -> System.out.printf(Locale.ROOT, "%8.1f s  %s%n", each.getValue(), each.getKey()));
    }

    private void readModule(Path module) throws Exception {
        Path sources = module.resolve("src/test/java");
        if (!Files.isDirectory(sources)) {
            return;
        }
        List<Path> reports = list(module.resolve("target/surefire-reports"), "TEST-.*\\.xml");
        for (Path report : reports) {
            readReport(report);
        }
        for (Path source : list(sources, ".*Test\\.java")) {
            String name = sources.relativize(source).toString().replace(".java", "").replace('/', '.');
            if (reports.stream().noneMatch(report -> report.getFileName().toString().startsWith("TEST-" + name))) {
                failed.add(name + " (left no report)");
            }
        }
    }

    private static List<Path> list(Path folder, String name) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (var files = Files.walk(folder)) {
            return files.filter(file -> file.getFileName().toString().matches(name)).toList();
        }
    }

    private void readReport(Path file) throws Exception {
        Element suite = parser.parse(file.toFile()).getDocumentElement();
        seconds.merge(suite.getAttribute("name"), Double.valueOf(suite.getAttribute("time")), Double::sum);
        var cases = suite.getElementsByTagName("testcase");
        for (int i = 0; i < cases.getLength(); i++) {
            var test = (Element) cases.item(i);
            String name = test.getAttribute("classname") + "#"
                    + test.getAttribute("name").replaceFirst("\\(.*", "");
            if (child(test, "skipped") instanceof Element skip) {
                skipped.add(name + ": " + skip.getAttribute("message"));
            } else if (child(test, "failure") != null || child(test, "error") != null) {
                failed.add(name);
            } else {
                passed.add(name);
            }
        }
    }

    private static Element child(Element test, String name) {
        return (Element) test.getElementsByTagName(name).item(0);
    }
}
