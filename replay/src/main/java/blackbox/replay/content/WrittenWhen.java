package blackbox.replay.content;

/// Says when octets of a stream were written. Owned by the thread that reads the stream.
@FunctionalInterface
public interface WrittenWhen {

    /// It is not known, so that no time stands for another.
    WrittenWhen UNKNOWN = _ -> new Window(Long.MIN_VALUE / 2, Long.MIN_VALUE / 2);

    /// How far before the last octet that was read one may lie that is asked for.
    int BEHIND_MAX = 1 << 17;

    /// The window of the guest's clock in which an octet was written.
    ///
    /// @param octet its place in the stream, from 0. It was read already, not more than [#BEHIND_MAX] octets ago,
    ///     and lies at or after the one that was asked for before it
    Window at(long octet);

    /// When the first of those who wrote it began, so that nothing that they measured took longer than from then on;
    /// [Long#MAX_VALUE] if that is not known.
    default long sinceNs() {
        return Long.MAX_VALUE;
    }

    /// Whether a duration is known to be measured, and not chosen by somebody.
    ///
    /// @param octet at which it begins in the stream, from 0
    default boolean isMeasured(long octet) {
        return false;
    }

    /// Whether it is the name of a file, in which no number has decimal places.
    default boolean isName() {
        return false;
    }

    /// Of the name of a file.
    static WrittenWhen ofName(Window window) {
        return new WrittenWhen() {
            @Override
            public Window at(long octet) {
                return window;
            }

            @Override
            public boolean isName() {
                return true;
            }
        };
    }

    /// The same for what was noted at any time since whoever wrote it began, and written later.
    default WrittenWhen sinceBegan() {
        WrittenWhen written = this;
        return new WrittenWhen() {
            @Override
            public Window at(long octet) {
                Window window = written.at(octet);
                return new Window(Math.min(window.fromNs(), sinceNs()), window.toNs());
            }

            @Override
            public long sinceNs() {
                return written.sinceNs();
            }

            @Override
            public boolean isMeasured(long octet) {
                return written.isMeasured(octet);
            }
        };
    }

    /// Whether it was printed for somebody to read at once, and is no file.
    default boolean isPrinted() {
        return false;
    }
}
