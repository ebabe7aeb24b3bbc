package blackbox.vm.image;

import blackbox.schemas.Hash;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Our own files that run in the guest. They are in the initrd, not in the root, so that changing them does not
/// mean rebuilding the root: the first process (`init/…`), which is this module's, and what the caller adds
/// (`tracer/…`). At boot they are found below `/run/blackbox`.
///
/// One more may be derived from them and from an image, by a [Derivation]: it is in an image that was opened or
/// built with such files, and not among the files themselves.
public final class GuestFiles {
    private static final Pattern PATH = Pattern.compile("[a-z0-9_.-]+(/[a-zA-Z0-9_.-]+)+");
    private static final String[] INIT = {
        "initrd.sh", "init.py", "boot.py", "clocks.py", "agent.py", "streams.py", "trust.py"
    };
    private static final String FIRST = "init/initrd.sh";
    private static final int BYTES_MAX = 16 << 20;

    private final SortedMap<String, byte[]> files;
    private final @Nullable Derivation derivation;

    private GuestFiles(SortedMap<String, byte[]> files, @Nullable Derivation derivation) {
        this.files = files;
        this.derivation = derivation;
    }

    /// Makes one more guest file out of the others, once for an image.
    public interface Derivation {

        /// The path of the file that it makes.
        String path();

        /// Its content, the same for the same kernel, root and files; null where it cannot be made on this
        /// machine: the guest has to do without then.
        ///
        /// @param image with the kernel and the root; its initrd may be of other files
        byte @Nullable [] derive(GuestImage image, GuestFiles files) throws VmException;

        /// The same, which trusts nothing that was derived before.
        Derivation afresh();
    }

    /// These files, from which another one is derived when an image is built or opened with them.
    public GuestFiles deriving(Derivation more) {
        return new GuestFiles(files, more);
    }

    /// Those without which a program among them, such as `tracer/compiled.py`, could not be executed in a
    /// guest that does nothing else: the files in its folder, and the one that starts it.
    public GuestFiles around(String program) {
        String folder = program.substring(0, program.lastIndexOf('/') + 1);
        var needed = new TreeMap<>(files);
        needed.keySet().removeIf(path -> !path.startsWith(folder) && !path.equals(FIRST));
        return new GuestFiles(needed, null);
    }

    /// What goes into the initrd of this image: the files, and what is derived from them.
    GuestFiles whole(GuestImage image) throws VmException {
        byte[] derived = derivation == null ? null : derivation.derive(image, this);
        if (derivation == null || derived == null) {
            return new GuestFiles(files, null);
        }
        var all = new TreeMap<>(files);
        all.put(derivation.path(), derived);
        return new GuestFiles(all, null);
    }

    /// Whether an image that was built with these digests, by path, has these files, and what is derived from
    /// them.
    boolean areIn(Map<String, String> digests) {
        var expected = new TreeMap<>(digests());
        if (derivation != null) {
            String derived = digests.get(derivation.path());
            if (derived == null) {
                return false;
            }
            expected.put(derivation.path(), derived);
        }
        return expected.equals(new TreeMap<>(digests));
    }

    /// SHA-256 of each file, by path.
    public SortedMap<String, String> digests() {
        var digests = new TreeMap<String, String>();
        files.forEach((path, octets) -> digests.put(path, Hash.sha256(octets).toString()));
        return digests;
    }

    /// This module's files and `more`, by path below `/run/blackbox`, for example `tracer/tracer.py`.
    ///
    /// @throws IllegalArgumentException when a path is absolute, has `..` or belongs to this module
    public static GuestFiles with(Map<String, byte[]> more) throws VmException {
        var files = new TreeMap<String, byte[]>();
        for (String name : INIT) {
            files.put("init/" + name, resource(name));
        }
        long bytes = 0;
        for (var each : more.entrySet()) {
            String path = each.getKey();
            if (!PATH.matcher(path).matches() || path.contains("..") || path.startsWith("init/")) {
                throw new IllegalArgumentException("'" + path + "' is not a valid path for a guest file");
            }
            bytes += each.getValue().length;
            files.put(path, each.getValue().clone());
        }
        if (bytes > BYTES_MAX) {
            throw new IllegalArgumentException("guest files of " + bytes + " bytes are too large");
        }
        return new GuestFiles(files, null);
    }

    /// Files as an image recorded them, for building that image again.
    static GuestFiles recorded(SortedMap<String, byte[]> files) {
        return new GuestFiles(new TreeMap<>(files), null);
    }

    SortedMap<String, byte[]> byPath() {
        return files;
    }

    /// The second part of the initrd.
    byte[] archive() {
        var cpio = new Cpio();
        byte[] first = files.get(FIRST);
        if (first == null) {
            throw new IllegalStateException("the guest files have no initrd.sh");
        }
        cpio.file("init", 0755, first);
        cpio.directory("blackbox");
        var made = new java.util.TreeSet<String>();
        for (var each : files.entrySet()) {
            for (int slash = each.getKey().indexOf('/');
                    slash > 0;
                    slash = each.getKey().indexOf('/', slash + 1)) {
                String folder = each.getKey().substring(0, slash);
                if (made.add(folder)) {
                    cpio.directory("blackbox/" + folder);
                }
            }
            cpio.file("blackbox/" + each.getKey(), 0644, each.getValue());
        }
        return cpio.finish();
    }

    private static byte[] resource(String name) throws VmException {
        try (InputStream in = GuestFiles.class.getResourceAsStream("/blackbox/vm/guest/" + name)) {
            if (in == null) {
                throw new IllegalStateException("this build lacks the guest file " + name);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new VmException(Code.IO, "the guest file " + name + " could not be read", e);
        }
    }
}
