package blackbox.schemas;

import java.time.Instant;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;

/// Names one run permanently: 26 characters of lower-case Crockford base 32, the first ten of which are the
/// milliseconds since 1970 (so that ids sort by time), the other sixteen 80 random bits (the layout of a
/// ULID).
public record RunId(String value) implements Comparable<RunId> {

    private static final String ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
    private static final Pattern FORM = Pattern.compile("[0-7][0-9a-hjkmnp-tv-z]{25}");

    public RunId {
        if (!FORM.matcher(value).matches()) {
            throw new IllegalArgumentException("a run id is 26 characters of lower-case base 32, not '" + value + "'");
        }
    }

    /// A new id for a run that starts at `now`.
    public static RunId create(Instant now, RandomGenerator random) {
        var text = new char[26];
        long time = now.toEpochMilli();
        for (int i = 9; i >= 0; i--, time >>>= 5) {
            text[i] = ALPHABET.charAt((int) (time & 31));
        }
        for (int i = 10; i < 26; i++) {
            text[i] = ALPHABET.charAt(random.nextInt(32));
        }
        return new RunId(new String(text));
    }

    /// When the run was started, to the millisecond, from the first ten characters.
    public Instant createdAt() {
        long time = 0;
        for (int i = 0; i < 10; i++) {
            time = time << 5 | ALPHABET.indexOf(value.charAt(i));
        }
        return Instant.ofEpochMilli(time);
    }

    /// The origin line of this run's checkpoints (C2SP tlog-checkpoint).
    public String origin() {
        return "blackbox/run/" + value;
    }

    @Override
    public int compareTo(RunId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
