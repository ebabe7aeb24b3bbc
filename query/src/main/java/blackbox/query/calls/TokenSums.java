package blackbox.query.calls;

import blackbox.query.run.RunFacts;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The calls of each model in a run, with their tokens.
public final class TokenSums {

    /// Whoever answers may name as many models as there are calls.
    private static final int MODELS_MAX = 1000;

    private static final String OTHERS = "(others)";

    private final Map<String, Sum> sums = new TreeMap<>();

    private static final class Sum {
        private long calls;
        private long unsaid;
        private long unpriced;
        private long micros;
        private Tokens tokens = Tokens.UNKNOWN;
    }

    /// The calls of one model.
    ///
    /// @param model as the answer names it, or else as it was asked for
    /// @param withoutTokens of how many the answer does not say the tokens
    /// @param micros what they cost by the prices of the run's policy, in millionths of a US dollar; null if
    ///     that is not known of any
    /// @param withoutCost of how many that is not known
    public record OfModel(
            String model,
            long calls,
            long withoutTokens,
            Tokens tokens,
            @Nullable Long micros,
            long withoutCost) {

        /// In words, without the model.
        public String words() {
            return (calls == 1 ? "1 call, " : calls + " calls, ")
                    + tokens.words()
                    + (withoutTokens == 0 ? "" : "; of " + withoutTokens + " the tokens are not known")
                    + (micros == null ? "" : "; " + BudgetUse.dollars(micros) + " US dollars")
                    + (micros == null || withoutCost == 0 ? "" : ", the cost of " + withoutCost + " not known");
        }
    }

    /// Takes the next row, which has its kind and detail.
    public void see(Row row) {
        if (row.has(Column.KIND) && row.number(Column.KIND) == Kind.LLM_CALL.code()) {
            JsonNode detail = RunFacts.detailOf(row);
            String model = model(detail);
            String name = sums.size() < MODELS_MAX || sums.containsKey(model) ? model : OTHERS;
            Sum sum = sums.computeIfAbsent(name, _ -> new Sum());
            Tokens tokens = Tokens.of(detail);
            sum.calls++;
            sum.unsaid += tokens.input() == null && tokens.output() == null ? 1 : 0;
            sum.tokens = sum.tokens.plus(tokens);
            JsonNode cost = detail.path("costMicros");
            if (cost.isIntegralNumber() && cost.canConvertToLong() && cost.longValue() >= 0) {
                long micros = sum.micros + cost.longValue();
                sum.micros = micros < 0 ? Long.MAX_VALUE : micros;
            } else {
                sum.unpriced++;
            }
        }
    }

    /// The model of an `llm.call`: as the answer names it, or else as it was asked for.
    public static String model(JsonNode detail) {
        String answered = detail.path("responseModel").textValue();
        return answered == null ? detail.path("requestModel").asText("?") : answered;
    }

    /// By their names.
    public List<OfModel> models() {
        var models = new ArrayList<OfModel>();
        sums.forEach((model, sum) -> models.add(new OfModel(
                model,
                sum.calls,
                sum.unsaid,
                sum.tokens,
                sum.unpriced == sum.calls ? null : (Long) sum.micros,
                sum.unpriced)));
        return models;
    }

    /// Writes the field `models`.
    public static void write(JsonGenerator out, List<OfModel> models) throws IOException {
        out.writeArrayFieldStart("models");
        for (OfModel each : models) {
            out.writeStartObject();
            out.writeStringField("model", each.model());
            out.writeNumberField("calls", each.calls());
            out.writeNumberField("callsWithoutTokens", each.withoutTokens());
            each.tokens().writeFields(out);
            out.writeStringField("costUsd", each.micros() == null ? null : BudgetUse.dollars(each.micros()));
            out.writeNumberField("callsWithoutCost", each.withoutCost());
            out.writeEndObject();
        }
        out.writeEndArray();
    }
}
