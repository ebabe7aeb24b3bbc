package blackbox.cli.oracle;

import blackbox.cli.oracle.StraceLog.Deed;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.ProcessRef;
import blackbox.schemas.row.Text;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Events as deeds, for comparison with what another tool saw.
final class Deeds {

    private static final long EINPROGRESS = -115;

    private Deeds() {}

    static List<Deed> of(List<Event> events) {
        var deeds = new ArrayList<Deed>();
        for (Event event : events) {
            ProcessRef process = event.header().process();
            String[] said = process == null ? null : said(event);
            if (process != null && said != null) {
                deeds.add(new Deed(said[0], process.tid(), said[1]));
            }
        }
        return deeds;
    }

    private static String @Nullable [] said(Event event) {
        return switch (event) {
            case Event.ProcessExec e
            when e.ret() == 0 && e.argv() != null ->
                pair("exec", e.argv().stream().map(Deeds::octets).collect(Collectors.joining("\0")));
            case Event.FileOpen e when e.ret() >= 0 && e.path() != null -> pair("open", octets(e.path()));
            case Event.FileChange e when e.ret() == 0 && e.path() != null -> change(e, octets(e.path()));
            case Event.NetCall e
            when e.kind() == Kind.NET_CONNECT && (e.ret() == 0 || e.ret() == EINPROGRESS) -> connect(e);
            default -> null;
        };
    }

    private static String @Nullable [] change(Event.FileChange e, String path) {
        Text to = e.pathTo();
        return switch (e.kind()) {
            case FILE_RENAME -> to == null ? null : pair("rename", path + "\0" + octets(to));
            case FILE_UNLINK -> pair("unlink", path);
            case FILE_RMDIR -> pair("rmdir", path);
            default -> null;
        };
    }

    private static String @Nullable [] connect(Event.NetCall e) {
        var remote = e.remote();
        Text path = e.path();
        if (remote != null) {
            return pair("connect", remote.ip() + " " + remote.port());
        }
        return path == null ? null : pair("connect", octets(path));
    }

    private static String[] pair(String kind, String what) {
        return new String[] {kind, what};
    }

    private static String octets(Text text) {
        return new String(text.toBytes(), StandardCharsets.ISO_8859_1);
    }
}
