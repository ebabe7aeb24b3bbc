package blackbox.replay.request;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestMatchTest {
    private static final String ONE = "1ff9530e-7ac8-4940-9574-74662aa7b7e3";
    private static final String TWO = "9ef017dd-509e-49fc-ac54-e8239e3b49d2";
    private static final String THREE = "38c34f65-b1a4-4feb-9b6c-3a516fba9677";

    private final DrawnIds ids = new DrawnIds();

    private static byte[] request(String field, String body) {
        return ("POST /v1/messages HTTP/1.1\r\nHost: model.example\r\n" + field + "\r\nContent-Length: " + body.length()
                        + "\r\n\r\n" + body)
                .getBytes(StandardCharsets.US_ASCII);
    }

    private RequestMatch fields(String recorded, String actual) {
        return RequestMatch.of(request(recorded, ""), request(actual, ""), ids);
    }

    private RequestMatch bodies(String recorded, String actual) {
        return RequestMatch.of(request("Accept: */*", recorded), request("Accept: */*", actual), ids);
    }

    @ParameterizedTest
    @CsvSource({
        "X-Request-Id, REQUEST_ID",
        "x-client-request-id, REQUEST_ID",
        "Idempotency-Key, REQUEST_ID",
        "X-Claude-Code-Session-Id, SESSION_ID",
        "TraceParent, TRACE_ID",
    })
    void anIdStandsForTheRecordedOneWhereClientsDrawThem(String field, IdPlace place) {
        RequestMatch match = fields(field + ": " + ONE, field + ": " + TWO);
        assertTrue(match.isMatch(), match::toString);
        assertEquals(Set.of(place), match.places());
        assertEquals(Map.of(ONE, TWO), match.ties());
        assertEquals(Map.of(), ids.all(), "it may be another request yet");
    }

    @Test
    void anIdStandsForNothingElsewhere() {
        assertFalse(fields("X-Account: " + ONE, "X-Account: " + TWO).isMatch());
        assertFalse(bodies("{\"account\":\"" + ONE + "\"}", "{\"account\":\"" + TWO + "\"}")
                .isMatch());
        assertFalse(bodies("id=" + ONE, "id=" + TWO).isMatch());
        assertFalse(RequestMatch.of(
                        ("GET /" + ONE + " HTTP/1.1\r\n\r\n").getBytes(StandardCharsets.US_ASCII),
                        ("GET /" + TWO + " HTTP/1.1\r\n\r\n").getBytes(StandardCharsets.US_ASCII),
                        ids)
                .isMatch());
    }

    /// Once it was sent where ids are, it is the same id wherever it is sent.
    @Test
    void anIdThatIsKnownIsTheSameEverywhere() {
        fields("X-Session-Id: " + ONE, "X-Session-Id: " + TWO).tie(ids);
        RequestMatch body = bodies("{\"log\":\"/tmp/" + ONE + ".jsonl\"}", "{\"log\":\"/tmp/" + TWO + ".jsonl\"}");
        assertTrue(body.isMatch(), body::toString);
        assertEquals(Set.of(IdPlace.TIED_ID), body.places());
        assertFalse(bodies("{\"log\":\"" + ONE + "\"}", "{\"log\":\"" + THREE + "\"}")
                .isMatch());
        assertFalse(
                bodies("{\"log\":\"" + TWO + "\"}", "{\"log\":\"" + ONE + "\"}").isMatch());
    }

    @Test
    void anIdStandsForOneOnly() {
        fields("X-Session-Id: " + ONE, "X-Session-Id: " + TWO).tie(ids);
        assertFalse(fields("X-Session-Id: " + ONE, "X-Session-Id: " + THREE).isMatch());
        assertFalse(fields("X-Session-Id: " + THREE, "X-Session-Id: " + TWO).isMatch());
        assertTrue(fields("X-Session-Id: " + ONE, "X-Session-Id: " + TWO).isMatch());
        String both = "X-Request-Id: %s\r\nX-Session-Id: %s";
        assertTrue(
                fields(both.formatted(THREE, THREE), both.formatted(ONE, ONE)).isMatch());
        assertFalse(fields(both.formatted(THREE, ONE.replace('1', '2')), both.formatted(ONE, ONE))
                .isMatch());
    }

    @ParameterizedTest
    @CsvSource({
        "1ff9530e7ac8494095747466, 1ff9530e7ac84940957474", // shorter
        "1ff9530e7ac8494095747466, 1ff9530e7ac849-095747466", // another form
        "1ff9530e7ac8494095747466, zff9530e7ac8494095747466", // not hexadecimal
        "1ff9530e7ac8494095747466, 1FF9530E7AC8494095747466", // capitals
        "1234567890123, abcdefabcdefa", // not a number
        "12345678901, 12345678902", // may be one of few
        "1ff9530e7ac8494095747466, 1ff9530e7ac8494095747.66", // not a word
    })
    void whatHasAnotherFormIsNoId(String recorded, String actual) {
        assertFalse(
                fields("X-Request-Id: " + recorded, "X-Request-Id: " + actual).isMatch());
    }

    @Test
    void whoAsksIsInABody() {
        String body =
                "{\"model\":\"m\",\"metadata\":{\"user_id\":\"{\\\"device\\\":\\\"%s\\\"}\"},\"messages\":[\"%s\"]}";
        String device = "c560ecb4819753cb4e20cbc361946f662e2df7a44bdb3b2eb315cb133e52aa";
        String other = "f9bf48e312968a0265a1e06de6b84ad1f5554ee4d5f1c051fdfff71217e3bb";
        RequestMatch match = bodies(body.formatted(device, "a"), body.formatted(other, "a"));
        assertTrue(match.isMatch(), match::toString);
        assertEquals(Set.of(IdPlace.USER_ID), match.places());
        RequestMatch differs = bodies(body.formatted(device, "a"), body.formatted(other, "b"));
        assertEquals("at /messages/0 of its body", differs.where());
        assertFalse(differs.isMatch());
    }

    @Test
    void partsMayBeSeparatedOtherwise() {
        String form = "Content-Type: multipart/form-data; boundary=------------------------%s";
        String body = "--------------------------%1$s\r\n\r\nx\r\n--------------------------%1$s--\r\n";
        RequestMatch match = RequestMatch.of(
                request(form.formatted("0123456789abcdef"), body.formatted("0123456789abcdef")),
                request(form.formatted("fedcba9876543210"), body.formatted("fedcba9876543210")),
                ids);
        assertTrue(match.isMatch(), match::toString);
        assertTrue(match.places().contains(IdPlace.MULTIPART_BOUNDARY), match::toString);
        assertFalse(fields(
                        "Content-Type: text/x; charset=0123456789abcdef",
                        "Content-Type: text/x; charset=fedcba9876543210")
                .isMatch());
    }

    @Test
    void whereADifferenceIsIsSaid() {
        assertEquals("in its field accept", fields("Accept: a", "Accept: b").where());
        assertEquals(
                "at /a/1 of its body", bodies("{\"a\":[1,2]}", "{\"a\":[1,3]}").where());
        assertEquals("in its body", bodies("abc", "abd").where());
        assertEquals("in its body", bodies("{\"a\"x1", "{\"a\"x2").where());
        assertTrue(bodies("{\"a\":1}", "{\"a\":1}").isMatch());
        RequestMatch longer = bodies("{\"a\":1}", "{\"a\":123456}");
        assertEquals("in its field content-length", longer.where());
    }
}
