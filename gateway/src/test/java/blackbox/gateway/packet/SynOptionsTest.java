package blackbox.gateway.packet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HexFormat;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SynOptionsTest {

    @ParameterizedTest
    @CsvSource({
        // What Linux sends: MSS, SACK permitted, time stamps, nothing, window scale.
        "020405b4 0402 080a0000000100000000 01 030307, 1460, 7",
        "020405b4, 1460, -1",
        "030300, 0, 0",
        "03030f, 0, 14",
        "01 01 030308 020405b4, 1460, 8",
        "00 030307, 0, -1",
        "020405b4 0300, 1460, -1",
        "020405b4 030407, 1460, -1",
        "030407ff, 0, -1",
        "0303, 0, -1",
        "03, 0, -1",
        "'', 0, -1",
    })
    void bothAreReadAndNothingThatContradictsItself(String options, int mss, int shift) {
        byte[] octets = HexFormat.of().parseHex("ff".repeat(22) + options.replace(" ", ""));
        assertEquals(new SynOptions(mss, shift), SynOptions.of(octets, 2, octets.length));
    }
}
