package blackbox.query.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// What a guest put into its names reaches whoever reads the CSV as text, never as a line, a cell or an escape.
class CsvResultTest {

    private static String csv(@Nullable Object... values) {
        var out = new StringWriter();
        var sink = new CsvResult(new PrintWriter(out));
        sink.columns(List.of("path"));
        sink.row(Arrays.asList(values));
        sink.end();
        return out.toString();
    }

    @Test
    void controlCharactersAreEscaped() {
        assertEquals("path\r\n/a\\x0ab\\x0d\\x1b[31m\\x00\\x7f\\x9b\r\n", csv("/a\nb\r\u001b[31m\u0000\u007f\u009b"));
        assertEquals("path\r\n\\x09\\u2028\\u202e\r\n", csv("\t\u2028\u202e"));
    }

    @Test
    void aBackslashIsEscapedOnceSoThatEscapesCannotBeFeigned() {
        assertEquals("path\r\n/a\\x5cx0a\r\n", csv("/a\\x0a"));
    }

    @Test
    void aTextIsNoFormula() {
        assertEquals(
                "path\r\n\\x3dcmd|'/C calc'!A1,\\x2b1,\\x2d1,\\x40a,a=b,-7\r\n",
                csv("=cmd|'/C calc'!A1", "+1", "-1", "@a", "a=b", -7L));
    }

    @Test
    void norIsOneBehindASemicolon() {
        assertEquals("path\r\n/a;\\x3dHYPERLINK(1),\\uff1dx,a;b\r\n", csv("/a;=HYPERLINK(1)", "\uff1dx", "a;b"));
    }

    @Test
    void commasAndQuotesStayInTheirCell() {
        assertEquals("path\r\n\"a,\"\"b\"\"\",,7\r\n", csv("a,\"b\"", null, 7));
    }
}
