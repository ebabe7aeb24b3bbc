package blackbox.vm.process;

import blackbox.schemas.folder.CaptureName;
import blackbox.vm.ScratchFolder;
import blackbox.vm.SparseCopy;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.confine.Box;
import blackbox.vm.machine.Accelerator.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The box around one machine's QEMU: it reads its machine's folder and what that folder's links lead to, and
/// writes those files that its command line names as its own. It cannot make, rename or replace a file, so that
/// a path which the host opens leads where the host made it lead; only its sockets are in a folder that it may
/// write.
final class MachineBox {
    /// What QEMU writes in a machine's folder if its command line names it.
    private static final List<String> WRITTEN = Stream.concat(
                    Stream.of(
                            QemuArguments.STATE,
                            QemuArguments.WORKSPACE_OUT,
                            QemuArguments.RAM,
                            QemuArguments.CONSOLE,
                            QemuArguments.FRAMES_OUT,
                            QemuArguments.FRAMES_IN,
                            QemuArguments.KEPT,
                            QemuArguments.STDIN,
                            QemuArguments.LOG),
                    Stream.concat(Stream.of(CaptureName.BLOCKS), CaptureName.SENT.stream())
                            .map(name -> QemuArguments.CAPTURE + "/" + name.text()))
            .toList();

    /// Options of QEMU's whose values are files.
    private static final Set<String> FILE_OPTIONS =
            Set.of("file.filename", "filename", "mem-path", "path", "logfile", "input-path", "rrfile", "file");

    private static final String REPLAYED = "rr=replay";
    private static final FileAttribute<?> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    private static final String BASE_RAM = QemuArguments.SNAPSHOT + "/" + QemuArguments.BASE_RAM;
    private static final String COPIES = ".ram-";

    private MachineBox() {}

    static Box around(MachineFolder folder, QemuStart start) throws VmException {
        try {
            Path place = folder.path().toRealPath();
            Box box = Box.in(place).memory(start.parts().size().memoryMib());
            if (!box.confinement().confines()) {
                return box;
            }
            start.parts().qemu().open(box);
            if (start.parts().accelerator().kind() == Kind.KVM) {
                box.kvm();
            }
            Set<String> named = files(start.argv());
            links(place, box);
            box.writable(Files.readSymbolicLink(place.resolve(QemuArguments.SOCKETS)));
            if (named.contains(BASE_RAM) && !QemuArguments.opensRamReadOnly(start.argv())) {
                copyRam(place, box, folder.cache());
            }
            for (String each : WRITTEN) {
                if (named.contains(each)) {
                    Path file = target(place, each);
                    if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
                        Files.createFile(file, OWNER_ONLY);
                    }
                    box.writable(file);
                }
            }
            return box;
        } catch (IOException e) {
            throw new VmException(Code.IO, "the files of a VM in " + folder.path() + " could not be prepared", e);
        }
    }

    /// Files on each disk that a machine writes to.
    static List<Path> disks(MachineFolder folder) {
        return Stream.of(folder.path(), folder.file(QemuArguments.CAPTURE), folder.file(QemuArguments.SOCKETS))
                .filter(Files::exists)
                .toList();
    }

    /// A box for a tool that reads the disks of a machine that has ended.
    static Box afterwards(MachineFolder folder) throws VmException {
        try {
            Path place = folder.path().toRealPath();
            Box box = Box.in(place);
            if (box.confinement().confines()) {
                links(place, box);
            }
            return box;
        } catch (IOException e) {
            throw new VmException(Code.IO, "the disks of a VM in " + folder.path() + " could not be opened", e);
        }
    }

    /// What the links to the image and the snapshot lead to, and those of a folder in the snapshot's place.
    private static void links(Path place, Box box) throws VmException, IOException {
        for (String each : List.of(QemuArguments.IMAGE, QemuArguments.SNAPSHOT)) {
            Path path = place.resolve(each);
            if (Files.isSymbolicLink(path)) {
                box.readable(Files.readSymbolicLink(path));
            } else if (Files.isDirectory(path)) {
                try (var inner = Files.list(path)) {
                    for (Path link : inner.filter(Files::isSymbolicLink).toList()) {
                        box.readable(Files.readSymbolicLink(link));
                    }
                }
            }
        }
    }

    /// For a QEMU that opens a snapshot's RAM for writing, even if it maps it privately and never writes to it.
    private static void copyRam(Path place, Box box, Path cache) throws VmException, IOException {
        ScratchFolder scratch = ScratchFolder.ofThisProcess(cache, COPIES);
        box.deleteAtEnd(scratch);
        Path own = scratch.path().resolve(QemuArguments.BASE_RAM);
        Path base = target(place, BASE_RAM);
        SparseCopy.make(base, own);
        box.writable(own, base);
    }

    /// Where a name in the machine's folder leads, through at most one link of ours.
    private static Path target(Path place, String name) throws IOException {
        Path path = place.resolve(name);
        if (Files.isSymbolicLink(path)) {
            return Files.readSymbolicLink(path);
        }
        Path parent = path.getParent();
        return parent != null && Files.isSymbolicLink(parent)
                ? Files.readSymbolicLink(parent).resolve(path.getFileName())
                : path;
    }

    /// The files that a command line names.
    private static Set<String> files(List<String> argv) {
        var options = argv.stream().flatMap(word -> Stream.of(word.split(","))).toList();
        var files = options.stream()
                .map(option -> option.split("=", 2))
                .filter(option -> option.length == 2 && FILE_OPTIONS.contains(option[0]))
                .map(option -> option[1])
                .collect(Collectors.toCollection(HashSet::new));
        if (options.contains(REPLAYED)) {
            files.remove(QemuArguments.LOG); // which is only read then
        }
        return files;
    }
}
