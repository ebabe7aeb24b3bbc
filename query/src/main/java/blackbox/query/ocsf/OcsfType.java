package blackbox.query.ocsf;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// What an attribute of OCSF is in a column of Parquet.
sealed interface OcsfType {

    /// Its name in DuckDB's SQL.
    String sql();

    /// Adds to `faults` the paths at which a value is of no such type, or has attributes that have no column.
    void check(String path, JsonNode value, List<String> faults);

    /// A single value.
    enum Scalar implements OcsfType {
        TEXT("VARCHAR"),
        INT("INTEGER"),
        LONG("BIGINT"),
        BOOLEAN("BOOLEAN");

        private final String sql;

        Scalar(String sql) {
            this.sql = sql;
        }

        @Override
        public String sql() {
            return sql;
        }

        @Override
        public void check(String path, JsonNode value, List<String> faults) {
            boolean fits = switch (this) {
                case TEXT -> value.isTextual();
                case INT -> value.isIntegralNumber() && value.canConvertToInt();
                case LONG -> value.isIntegralNumber() && value.canConvertToLong();
                case BOOLEAN -> value.isBoolean();
            };
            if (!fits) {
                faults.add(path);
            }
        }
    }

    /// An array.
    record Array(OcsfType of) implements OcsfType {
        @Override
        public String sql() {
            return of.sql() + "[]";
        }

        @Override
        public void check(String path, JsonNode value, List<String> faults) {
            if (!value.isArray()) {
                faults.add(path);
            }
            value.forEach(each -> of.check(path + "[]", each, faults));
        }
    }

    /// An object, whose attributes may each be absent.
    record Struct(Map<String, OcsfType> fields) implements OcsfType {

        static Struct of() {
            return new Struct(Map.of());
        }

        /// The same with more attributes of a type.
        Struct with(OcsfType type, String... names) {
            var more = new LinkedHashMap<>(fields);
            for (String name : names) {
                more.put(name, type);
            }
            return new Struct(more);
        }

        @Override
        public String sql() {
            return fields.entrySet().stream()
                    .map(each -> '"' + each.getKey() + "\" " + each.getValue().sql())
                    .collect(Collectors.joining(", ", "STRUCT(", ")"));
        }

        @Override
        public void check(String path, JsonNode value, List<String> faults) {
            if (!value.isObject()) {
                faults.add(path);
            }
            value.properties().forEach(each -> {
                String at = path.isEmpty() ? each.getKey() : path + "." + each.getKey();
                OcsfType type = fields.get(each.getKey());
                if (type == null) {
                    faults.add(at);
                } else {
                    type.check(at, each.getValue(), faults);
                }
            });
        }

        /// The paths that have no column, or another type there.
        List<String> faults(JsonNode value) {
            var faults = new ArrayList<String>();
            check("", value, faults);
            return faults;
        }
    }
}
