package blackbox.evidence.parquet;

/// The physical types that our files use (Parquet format, `Type`).
enum PhysicalType {
    INT32(1),
    INT64(2),
    BYTE_ARRAY(6);

    private final int code;

    PhysicalType(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }

    static PhysicalType of(int code) {
        return switch (code) {
            case 1 -> INT32;
            case 2 -> INT64;
            case 6 -> BYTE_ARRAY;
            default -> throw new IllegalArgumentException("physical type " + code + " is not one that we write");
        };
    }
}
