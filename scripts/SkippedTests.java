import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;

/// Reads Surefire's reports, lists every skipped test with its reason, and fails when no test ran at all or, with
/// `CI=true`, when a test was skipped that the list of allowed skips does not name.
///
/// `java SkippedTests.java ALLOWED REPORTS_DIR...`; exit 0 when all is as expected, 1 when not.
final class SkippedTests {
    record Skip(String test, String reason) {}

    private static int executed;
    private static final List<Skip> skips = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        Set<String> allowed = allowed(Path.of(args[0]));
        for (int i = 1; i < args.length; i++) {
            readFolder(Path.of(args[i]));
        }
        skips.forEach(skip -> System.out.println("skipped: " + skip.test() + ": " + skip.reason()));
        if (executed == 0) {
            fail("no test was executed");
        }
        List<String> unexpected =
                skips.stream().map(Skip::test).filter(test -> !allowed.contains(test)).toList();
        if (!unexpected.isEmpty() && "true".equals(System.getenv("CI"))) {
            fail("CI does not expect these skips: " + unexpected + "; make them run, or name them in " + args[0]);
        }
        System.out.println(executed + " tests executed, " + skips.size() + " skipped");
    }

    private static Set<String> allowed(Path file) throws IOException {
        return Files.readAllLines(file).stream()
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .map(line -> line.split("\\s+", 2)[0])
                .collect(Collectors.toSet());
    }

    private static void readFolder(Path folder) throws Exception {
        if (!Files.isDirectory(folder)) {
            return;
        }
        try (var files = Files.newDirectoryStream(folder, "TEST-*.xml")) {
            for (Path file : files) {
                readReport(file);
            }
        }
    }

    private static void readReport(Path file) throws Exception {
        var cases = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(file.toFile())
                .getElementsByTagName("testcase");
        for (int i = 0; i < cases.getLength(); i++) {
            var test = (Element) cases.item(i);
            var skipped = (Element) test.getElementsByTagName("skipped").item(0);
            if (skipped == null) {
                executed++;
                continue;
            }
            String name = test.getAttribute("name").replaceFirst("\\(.*", "");
            skips.add(new Skip(test.getAttribute("classname") + "#" + name, skipped.getAttribute("message")));
        }
    }

    private static void fail(String message) {
        System.out.println("failed: " + message);
        System.exit(1);
    }
}
