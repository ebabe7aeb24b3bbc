package blackbox.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;

import blackbox.rules.match.RuleWatch;
import blackbox.rules.sigma.SigmaReader;
import blackbox.schemas.Vectors;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.row.Row;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// SigmaHQ's rules for Linux.
public class SigmaHqTest {
    @Test
    void allButThoseThatAskForALogonAreRead() throws Exception {
        var read = new ArrayList<Rule>();
        var refused = new ArrayList<String>();
        for (Path file : files()) {
            try {
                read.addAll(SigmaReader.read(file.getFileName().toString(), Files.readAllBytes(file)));
            } catch (RuleException e) {
                refused.add(file.getFileName() + " " + e.code() + ": " + e.getMessage());
            }
        }
        assertEquals(2, refused.size(), refused::toString);
        assertEquals(133, RuleSet.of(read).rules().size());
    }

    /// In one run, so that what was planted for the others lies before.
    @Test
    void eachFiresOnAnEventThatWasPlantedForIt() throws Exception {
        RuleSet rules = RuleSet.of(read());
        var watch = new RuleWatch(rules);
        var clock = new Planted.EventClock(0, 0);
        var row = new Row();
        var silent = new ArrayList<String>();
        long index = 0;
        for (Rule.OfEvents rule : rules.ofEvents()) {
            boolean fired = false;
            for (List<Event> way : Planted.of(rule, clock)) {
                for (Event event : fired ? List.<Event>of() : way) {
                    EventRows.fill(event, row);
                    List<Match> found = watch.see(index, row);
                    fired = found.contains(new Match(rule, index, event.header().atNs(), List.of(index)));
                    index++;
                }
            }
            if (!fired) {
                silent.add(rule.about().file());
            }
        }
        assertEquals(List.of(), silent);
    }

    /// Those that can be used.
    public static List<Rule> read() throws Exception {
        var read = new ArrayList<Rule>();
        for (Path file : files()) {
            try {
                read.addAll(SigmaReader.read(file.getFileName().toString(), Files.readAllBytes(file)));
            } catch (RuleException e) {
                assertEquals(RuleException.Code.UNSUPPORTED, e.code(), file::toString);
            }
        }
        return read;
    }

    static List<Path> files() throws Exception {
        Path folder = Vectors.folder().resolveSibling("rules/sigma-linux");
        var files = new ArrayList<Path>();
        for (String each : List.of("process_creation", "file_event", "network_connection")) {
            try (Stream<Path> found = Files.list(folder.resolve(each))) {
                found.sorted().forEach(files::add);
            }
        }
        return files;
    }
}
