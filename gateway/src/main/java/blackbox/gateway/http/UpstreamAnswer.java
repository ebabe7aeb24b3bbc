package blackbox.gateway.http;

import blackbox.gateway.http.Framing.Kind;
import blackbox.gateway.http.HttpReader.Head;

/// The head of the other side's answer, checked.
///
/// @param reason its phrase, which may be empty
/// @param last whether it uses the connection no longer
record UpstreamAnswer(int status, String reason, Fields fields, Framing framing, boolean last) {
    private static final int SWITCHING_PROTOCOLS = 101;
    private static final int FIRST_FINAL = 200;
    private static final int NO_CONTENT = 204;
    private static final int NOT_MODIFIED = 304;
    private static final int STATUS_FROM = 9;
    private static final int STATUS_TO = 12;

    /// @param method of the request
    static UpstreamAnswer of(Head head, String method) throws HttpFault {
        String line = head.start();
        boolean proper = line.matches("HTTP/1\\.[01] [1-5][0-9][0-9]( .*)?")
                && line.chars().allMatch(c -> c == '\t' || c >= ' ' && c != 0x7f);
        if (!proper) {
            throw HttpFault.bad("its first line is not that of an answer in HTTP/1.1");
        }
        int minor = line.charAt("HTTP/1.".length()) - '0';
        int status = Integer.parseInt(line, STATUS_FROM, STATUS_TO, 10);
        String reason = line.length() > STATUS_TO ? line.substring(STATUS_TO + 1) : "";
        Fields fields = head.fields();
        Framing said = Framing.of(fields, minor, Framing.UNTIL_CLOSE);
        boolean without =
                status < FIRST_FINAL || status == NO_CONTENT || status == NOT_MODIFIED || method.equals("HEAD");
        Framing framing = without ? Framing.NONE : said;
        boolean last = minor == 0
                || framing.is(Kind.UNTIL_CLOSE)
                || fields.tokens("connection").contains("close");
        return new UpstreamAnswer(status, reason, fields, framing, last);
    }

    boolean isInterim() {
        return status < FIRST_FINAL && !switches();
    }

    boolean switches() {
        return status == SWITCHING_PROTOCOLS;
    }
}
