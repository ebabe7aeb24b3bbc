package blackbox.policy.text;

import blackbox.policy.budget.Price;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads what models cost, in US dollars for a million tokens.
final class PriceReader {

    private PriceReader() {}

    static @Nullable Price read(Node node, List<Problem> problems) {
        Fields fields = Fields.of(node, "a price", problems, "model", "input", "output", "cached", "cacheWrite");
        if (fields == null) {
            return null;
        }
        fields.require("model", ", as requests name it");
        fields.require("input", ": US dollars for a million tokens");
        fields.require("output", ": US dollars for a million tokens");
        String model = fields.value("model", text -> text);
        Long input = dollars(fields, "input");
        Long output = dollars(fields, "output");
        Long cached = dollars(fields, "cached");
        Long cacheWrite = dollars(fields, "cacheWrite");
        return model == null || input == null || output == null
                ? null
                : new Price(model, input, output, cached, cacheWrite);
    }

    private static @Nullable Long dollars(Fields fields, String key) {
        Node node = fields.node(key);
        return node == null ? null : fields.scalar(node, key, Amounts::price);
    }
}
