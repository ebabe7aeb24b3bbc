package blackbox.query.sides;

import blackbox.evidence.text.Printable;
import blackbox.schemas.event.FindingDetail.SidesDiffer;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;

/// Writes what guest and host saw for people.
public final class GuestAndHostText {

    private GuestAndHostText() {}

    /// Writes a heading and a line for each finding; nothing if nothing was compared.
    public static void write(PrintWriter out, GuestAndHost sides) {
        if (!sides.compared() && sides.findings().isEmpty()) {
            return;
        }
        out.println("Guest and host");
        out.println("  " + sides.connections() + " connections and " + sides.exchanges()
                + " exchanges of datagrams were told by both; " + findings(sides));
        for (GuestAndHost.Sealed each : sides.findings()) {
            SidesDiffer differs = each.differs();
            String host = differs.host();
            String said = differs.said();
            out.println("  " + differs.finding() + " " + differs.protocol() + " "
                    + Printable.of(differs.local()) + " to "
                    + (host == null ? "" : Printable.of(host) + " at ") + Printable.of(differs.remote())
                    + (said == null ? "" : ", where " + Printable.of(said) + " was asked for") + ": "
                    + differs.finding().words());
            out.println("    the guest's event: " + event(differs.guestEvent()) + ", the host's: "
                    + event(differs.hostEvent()) + ", found in event " + each.index()
                    + (differs.unknown() == null
                            ? ""
                            : "; UNKNOWN whether it is so, because of " + Printable.of(differs.unknown()))
                    + (differs.count() == 1 ? "" : " (number " + differs.count() + " of this finding)"));
        }
        out.println();
    }

    private static String findings(GuestAndHost sides) {
        return sides.findings().isEmpty()
                ? "nothing was told by one of them only"
                : "of " + sides.findings().size() + " flows they do not agree:";
    }

    private static String event(@Nullable Long index) {
        return index == null ? "none" : String.valueOf(index);
    }
}
