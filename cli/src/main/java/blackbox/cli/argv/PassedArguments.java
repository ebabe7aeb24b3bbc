package blackbox.cli.argv;

import blackbox.schemas.OctetText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;

/// Arguments that the launcher passes in the environment, which other users cannot read, instead of on the command
/// line: `BLACKBOX_ARGUMENTS` is how many, and `BLACKBOX_ARGUMENT_1` the first of them.
public final class PassedArguments {
    private static final String COUNT = "BLACKBOX_ARGUMENTS";
    private static final String ONE = "BLACKBOX_ARGUMENT_";

    private PassedArguments() {}

    /// Where a variable's value is.
    private record Place(int name, int value, int end) {}

    /// Takes them out of the environment, so that no child inherits them. To be called before anything asks
    /// `System.getenv`, which keeps a copy.
    ///
    /// @return each as [OctetText]; none when the launcher has passed none
    /// @throws IOException when they are not whole, or the kernel does not let this process take them out
    public static List<String> take() throws IOException {
        byte[] environment = OwnMemory.ENVIRONMENT.read();
        List<String> taken = take(environment);
        if (!taken.isEmpty()) {
            OwnMemory.ENVIRONMENT.overwrite(environment);
        }
        return taken;
    }

    /// @param environment every variable ended by a NUL; those that are taken become NULs
    static List<String> take(byte[] environment) throws IOException {
        var places = new HashMap<String, Place>();
        for (int from = 0, to; from < environment.length; from = to + 1) {
            to = indexOf((byte) 0, environment, from, environment.length);
            int equals = indexOf((byte) '=', environment, from, to);
            String name = new String(environment, from, equals - from, StandardCharsets.ISO_8859_1);
            if (name.equals(COUNT) || name.startsWith(ONE)) {
                places.put(name, new Place(from, Math.min(equals + 1, to), to));
            }
        }
        Place count = places.get(COUNT);
        if (count == null) {
            return List.of();
        }
        var taken = new ArrayList<String>();
        int number = number(new String(octets(environment, count), StandardCharsets.ISO_8859_1));
        for (int i = 1; i <= number; i++) {
            Place place = places.get(ONE + i);
            if (place == null) {
                throw new IOException("the environment has " + number + " in " + COUNT + " and no " + ONE + i);
            }
            taken.add(OctetText.of(octets(environment, place)));
        }
        places.values().forEach(each -> Arrays.fill(environment, each.name, each.end, (byte) 0));
        return taken;
    }

    private static int indexOf(byte wanted, byte[] octets, int from, int to) {
        int at = from;
        while (at < to && octets[at] != wanted) {
            at++;
        }
        return at;
    }

    private static byte[] octets(byte[] environment, Place place) {
        return Arrays.copyOfRange(environment, place.value, place.end);
    }

    private static int number(String text) throws IOException {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new IOException("the environment has no number in " + COUNT, e);
        }
    }
}
