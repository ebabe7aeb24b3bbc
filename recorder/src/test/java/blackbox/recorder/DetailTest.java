package blackbox.recorder;

import static org.junit.jupiter.api.Assertions.assertEquals;

import blackbox.schemas.Seeded;
import blackbox.schemas.event.FindingDetail.LimitReached;
import blackbox.schemas.event.FindingJson;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class DetailTest {

    private static final RandomGenerator RANDOM = Seeded.random("DetailTest");

    /// Findings have a writer of their own, in a module without libraries: the octets are those that they always had.
    @Test
    void aFindingIsWrittenAsAnyOtherDetail() {
        for (int i = 0; i < 5_000; i++) {
            var text = new StringBuilder();
            for (int length = RANDOM.nextInt(12); length > 0; length--) {
                text.append((char) (RANDOM.nextBoolean() ? RANDOM.nextInt(0x80) : RANDOM.nextInt(0x10000)));
            }
            long count = RANDOM.nextLong();
            assertEquals(
                    Detail.empty()
                            .and("limit", text.toString())
                            .and("count", count)
                            .toString(),
                    FindingJson.write(new LimitReached(text.toString(), count)));
        }
    }
}
