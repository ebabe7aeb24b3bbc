package blackbox.cli.options;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// Reads a number of octets: bare, or with `K`, `M`, `G` or `T` for powers of 1,024.
public final class SizeConverter implements ITypeConverter<Long> {

    private static final Pattern FORM = Pattern.compile("([1-9]\\d{0,8})([KMGT])?(?:i?B)?");
    private static final Pattern BARE = Pattern.compile("0|[1-9]\\d{0,15}");

    @Override
    public Long convert(String text) {
        if (BARE.matcher(text).matches()) {
            return Long.parseLong(text);
        }
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new TypeConversionException("'" + text + "' is not a size; write 512M, 4G or a number of bytes");
        }
        String unit = matcher.group(2);
        int power = unit == null ? 0 : "KMGT".indexOf(unit.charAt(0)) + 1;
        return Long.parseLong(matcher.group(1)) << (10 * power);
    }
}
