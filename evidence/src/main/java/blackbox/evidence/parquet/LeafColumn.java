package blackbox.evidence.parquet;

/// A column of the file's schema: its name and field id at the top level (0 if it has none), its type, and
/// its highest definition and repetition levels (repetition 0 for a plain column, 1 for a list).
record LeafColumn(String name, int fieldId, PhysicalType type, int definitionMax, int repetitionMax) {

    LeafColumn {
        boolean flat = repetitionMax == 0 && definitionMax <= 1;
        boolean list =
                repetitionMax == 1 && definitionMax >= 1 && definitionMax <= 3 && type == PhysicalType.BYTE_ARRAY;
        if (!flat && !list) {
            throw new IllegalArgumentException("column " + name + " is neither flat nor a list of text");
        }
    }

    boolean isList() {
        return repetitionMax == 1;
    }
}
