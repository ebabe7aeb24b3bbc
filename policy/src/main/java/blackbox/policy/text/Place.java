package blackbox.policy.text;

/// Where something is in a text; both count from 1.
public record Place(int line, int column) {
    @Override
    public String toString() {
        return line + ":" + column;
    }
}
