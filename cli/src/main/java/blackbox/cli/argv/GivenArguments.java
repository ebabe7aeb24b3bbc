package blackbox.cli.argv;

import blackbox.schemas.OctetText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// The arguments of this process. The JVM decodes them by the locale, so octets that are not text there have
/// been replaced before `main` sees them; the kernel still has the originals (proc(5), `/proc/PID/cmdline`).
public final class GivenArguments {
    private GivenArguments() {}

    /// The octets behind `args`, each as [OctetText].
    ///
    /// @param args as `main` received them
    /// @throws IOException when the kernel does not provide them
    public static String[] of(String[] args) throws IOException {
        return of(args, OwnMemory.ARGUMENTS.read());
    }

    /// @param cmdline every word of the process ended by a NUL; the last are `args`
    static String[] of(String[] args, byte[] cmdline) throws IOException {
        var words = new ArrayList<String>();
        int from = 0;
        for (int i = 0; i < cmdline.length; i++) {
            if (cmdline[i] == 0) {
                var word = new byte[i - from];
                System.arraycopy(cmdline, from, word, 0, word.length);
                words.add(OctetText.of(word));
                from = i + 1;
            }
        }
        if (words.size() < args.length) {
            throw new IOException("the kernel's list of arguments " + "has fewer words than there are");
        }
        List<String> given = words.subList(words.size() - args.length, words.size());
        for (int i = 0; i < args.length; i++) {
            boolean plain = given.get(i).chars().allMatch(c -> c < 0x80);
            if (plain && !given.get(i).equals(args[i])) {
                throw new IOException("the kernel's list of arguments " + "has others");
            }
        }
        return given.toArray(String[]::new);
    }
}
