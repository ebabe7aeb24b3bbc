package blackbox.query.answer;

/// How many entries several collectors may keep together, so that a run's answer does not outgrow memory when it is
/// divided.
final class Room {

    private final int most;
    private int left;

    Room(int most) {
        this.most = most;
        this.left = most;
    }

    /// Takes one entry's place; false if none is left.
    boolean take() {
        return left > 0 && left-- > 0;
    }

    /// How many entries there was room for.
    int most() {
        return most;
    }
}
