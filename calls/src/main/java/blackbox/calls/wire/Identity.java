package blackbox.calls.wire;

/// No content coding.
final class Identity extends ContentDecoder {
    Identity(Octets out) {
        super(out);
    }

    @Override
    void decode(byte[] octets, int from, int to) {
        give(octets, from, to);
    }

    @Override
    boolean whole() {
        return true;
    }
}
