package blackbox.cli.output;

import blackbox.evidence.store.LeftOut;
import blackbox.evidence.text.Printable;
import java.io.PrintWriter;
import java.util.List;

/// Lists on standard error the files that were left out of an answer.
public final class LeftOutNotice {

    private static final int NAMED_MAX = 10;

    private LeftOutNotice() {}

    public static void print(PrintWriter err, List<LeftOut> leftOut) {
        leftOut.stream().limit(NAMED_MAX).forEach(each -> err.println("blackbox: " + Printable.of(each.toString())));
        if (leftOut.size() > NAMED_MAX) {
            err.println(
                    "blackbox: and " + (leftOut.size() - NAMED_MAX) + " more; `blackbox runs --json` names them all");
        }
        err.flush();
    }
}
