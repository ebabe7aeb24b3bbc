package blackbox.fuzz;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.evidence.store.Recordings;
import blackbox.query.QueryException;
import blackbox.query.answer.EventFilter;
import blackbox.query.run.RunNames;
import blackbox.replay.Moment;
import blackbox.schemas.RunId;
import blackbox.schemas.net.IpAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What callers of the service put into its paths, parameters and headers.
final class ApiTargets {
    private static @Nullable Path data;

    private ApiTargets() {}

    static List<FuzzTarget> all() {
        return List.of(FuzzTarget.of(
                "api-parameters",
                512,
                ApiTargets::parameters,
                ApiTargets::requests,
                QueryException.class,
                IllegalArgumentException.class));
    }

    /// The first octet chooses the parameter.
    private static boolean parameters(byte[] octets) throws Exception {
        if (octets.length == 0) {
            return false;
        }
        String text = new String(octets, 1, octets.length - 1, StandardCharsets.UTF_8);
        switch (octets[0]) {
            case 'k' ->
                ensure(!EventFilter.of(List.of(text), null, null).kinds().isEmpty(), "a kind that is none");
            case 'f' -> {
                EventFilter filter = EventFilter.of(List.of(), text, text);
                ensure(filter.fromNs() == filter.toNs(), "one time is two");
            }
            case 'a' -> ensure(EventFilter.ALL.by(text).actor() != null, "an actor that is nobody");
            case 'm' -> {
                Moment moment = Moment.parse(text);
                ensure(!(moment instanceof Moment.AtEvent(long index)) || index >= 0, "an index before the first");
            }
            case 'r' -> ensure(new RunId(text).value().equals(text), "an id is written otherwise");
            case 'n' -> {
                RunId unused = RunNames.resolve(Recordings.unchecked(folder()), text);
            }
            case 'i' -> {
                String address = IpAddress.canonical(text);
                ensure(address == null || address.equals(IpAddress.canonical(address)), "an address has two forms");
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private static Path folder() throws Exception {
        Path made = data;
        if (made == null) {
            made = Files.createTempDirectory("fuzz-data");
            made.toFile().deleteOnExit();
            data = made;
        }
        return made;
    }

    private static Map<String, byte[]> requests() {
        return Map.of(
                "kind", utf8("kfile.open"),
                "from", utf8("f2026-11-21T09:30:00.5+01:00"),
                "actor", utf8("aagent"),
                "moment", utf8("m2026-11-21T09:30:00Z"),
                "index", utf8("m123"),
                "time-of-day", utf8("m09:30:00.123"),
                "run", utf8("r01kaj3v4e00000000000000001"),
                "address", utf8("i2001:db8::1"));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
