package blackbox.cli.options;

import blackbox.replay.Moment;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// Reads a moment of a run: an event's index, an RFC 3339 time, or `HH:MM:SS` (UTC) of the run's day.
public final class MomentConverter implements ITypeConverter<Moment> {

    @Override
    public Moment convert(String text) {
        try {
            return Moment.parse(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(String.valueOf(e.getMessage()));
        }
    }
}
