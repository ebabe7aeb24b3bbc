package blackbox.replay.divergence.align;

/// Is told which events of two runs agree, in no particular order. Owned by the thread that aligns.
public interface Agreements {
    /// Nobody is.
    Agreements NOBODY = new Agreements() {
        @Override
        public void begin() {}

        @Override
        public void agree(long recorded, long actual) {}
    };

    /// The events are read from their beginning; what was said before does not count.
    void begin();

    /// An event of the recorded side stands for one of the other side. Each is named at most once.
    ///
    /// @param recorded its index
    /// @param actual the other's
    void agree(long recorded, long actual);
}
