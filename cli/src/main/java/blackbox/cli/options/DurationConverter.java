package blackbox.cli.options;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// Reads `90s`, `10m`, `2h`, `1h30m`, `30d` or a bare number of seconds.
public final class DurationConverter implements ITypeConverter<Duration> {

    private static final Pattern FORM =
            Pattern.compile("(?:(\\d{1,5})d)?(?:(\\d{1,6})h)?(?:(\\d{1,6})m)?(?:(\\d{1,9})s?)?");

    @Override
    public Duration convert(String text) {
        Matcher matcher = FORM.matcher(text);
        if (text.isEmpty() || !matcher.matches()) {
            throw new TypeConversionException("'" + text + "' is not a duration; write 90s, 10m, 2h, 1h30m or 30d");
        }
        Duration duration = Duration.ofDays(part(matcher, 1))
                .plusHours(part(matcher, 2))
                .plusMinutes(part(matcher, 3))
                .plusSeconds(part(matcher, 4));
        if (duration.isZero()) {
            throw new TypeConversionException("the duration must be longer than 0");
        }
        return duration;
    }

    private static long part(Matcher matcher, int group) {
        String digits = matcher.group(group);
        return digits == null ? 0 : Long.parseLong(digits);
    }
}
