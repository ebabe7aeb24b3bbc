package blackbox.vm.qemu;

import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.apt.DebFile;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;

/// Exactly which packages a build of QEMU is unpacked from, so that it is the same on every host.
///
/// @param format version of this form: 1
/// @param suite Debian's release
/// @param packages sorted by name
public record QemuLock(int format, String suite, List<DebFile> packages) {
    private static final int FORMAT = 1;
    private static final String SHIPPED = "/blackbox/vm/qemu/debian-13.lock";

    public QemuLock {
        if (format != FORMAT || packages.isEmpty()) {
            throw new IllegalArgumentException("lock of a QEMU build: unknown format, or no packages");
        }
        packages = packages.stream().sorted(Comparator.comparing(DebFile::name)).toList();
    }

    /// The one shipped with Blackbox.
    static QemuLock shipped() throws VmException {
        try (InputStream in = QemuLock.class.getResourceAsStream(SHIPPED)) {
            if (in == null) {
                throw new IllegalStateException("this build lacks " + SHIPPED);
            }
            return Json.parse(new String(in.readAllBytes(), StandardCharsets.UTF_8), QemuLock.class);
        } catch (JsonProcessingException e) {
            throw new VmException(Code.IMAGE_DEFINITION, SHIPPED + " could not be understood", e);
        } catch (IOException e) {
            throw new VmException(Code.IO, SHIPPED + " could not be read", e);
        }
    }

    /// Reads a lock's file.
    ///
    /// @throws VmException `IMAGE_DEFINITION`
    public static QemuLock read(Path file) throws VmException {
        return Json.read(file, QemuLock.class, Code.IMAGE_DEFINITION);
    }

    /// The lock as stored in a file: a line for each package, so that people see which one has changed.
    public String text() {
        return Json.lines("packages", Json.tree(this));
    }

    /// The lock of a build's packages.
    public static QemuLock of(QemuBuild build) {
        return of(build.record().suite(), build.record().packages());
    }

    static QemuLock of(String suite, List<DebFile> packages) {
        return new QemuLock(FORMAT, suite, packages);
    }
}
