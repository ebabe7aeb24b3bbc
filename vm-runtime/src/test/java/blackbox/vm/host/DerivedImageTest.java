package blackbox.vm.host;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.vm.VmException;
import blackbox.vm.define.ImageDefinitions;
import blackbox.vm.image.GuestFiles;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.GuestImageBuilder;
import blackbox.vm.image.GuestImageBuilder.LockPolicy;
import blackbox.vm.image.ImageStore;
import blackbox.vm.machine.MachineSize;
import blackbox.vm.machine.Network;
import blackbox.vm.machine.VmRequest;
import blackbox.vm.machine.VmRequest.Start;
import blackbox.vm.npm.TestArchive;
import blackbox.vm.npm.TestRegistry;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// An image of a definition of one's own, with npm packages of a registry on loopback: what its guest has,
/// and that it is made again from the archive, byte for byte, when registry and definition are gone, while one that was
/// changed is found. Takes as long as two builds.
class DerivedImageTest {
    private static final String DEFINITION = """
            {
              "format": 1,
              "name": "derived",
              "npm": {"lock": "package-lock.json"},
              "files": [
                {"path": "/usr/local/bin/own", "text": "#!/bin/sh\\necho own of $GREETING\\n", "mode": "0755"},
                {"path": "/home/agent/.config/own/settings", "text": "s", "mode": "0600"},
                {"path": "/etc/own/rc", "text": "rc"}
              ],
              "environment": {"GREETING": "the image", "PAIR": "a=b c"}
            }
            """;
    private static final String SCRIPT = """
            set -e
            greet && own && echo "$PAIR"
            stat -c '%n %a %U' /home/agent/.config /home/agent/.config/own/settings /etc/own /etc/own/rc /opt/npm
            stat -c '%n %a %U' /opt/npm/node_modules/@some/tool/bin/run.sh
            ls -d /opt/npm/node_modules/.bin/greet
            test ! -w /opt/npm
            """;

    @TempDir
    Path folder;

    @Test
    void theGuestHasWhatTheDefinitionAddsAndTheArchiveIsEnoughToMakeItAgain() throws Exception {
        var test = TestHost.open();
        Path data = Files.createDirectories(folder.resolve("data"));
        for (String each : List.of("qemu", "cache")) {
            Files.createSymbolicLink(
                    data.resolve(each), Files.createDirectories(test.data().resolve(each)));
        }
        Path objects = Files.createDirectories(data.resolve("archive/sha256"));
        for (var each : test.image().record().lock().files()) {
            Files.createLink(
                    objects.resolve(each.sha256()),
                    test.data().resolve("archive/sha256").resolve(each.sha256()));
        }
        var store = new ImageStore(data);
        var builder = new GuestImageBuilder(store, InstantSource.system(), System.err::println);
        GuestImage image;
        try (var registry = new TestRegistry()) {
            registry.publish(
                    "@some/tool",
                    TestArchive.of("@some/tool", "1.0.0", "from npm").octets());
            Files.writeString(folder.resolve("package-lock.json"), registry.lock(Map.of("@some/tool", "greet")));
            Path file = Files.writeString(folder.resolve("derived.json"), DEFINITION);
            image = builder.build(
                    new ImageDefinitions(registry.url()).read(file, null),
                    GuestFiles.with(Map.of()),
                    LockPolicy.PREFER,
                    null);
        }
        assertEquals(test.image().record().lock(), image.record().lock(), "Debian's packages are those of 'default'");
        Files.delete(folder.resolve("derived.json"));

        var host = QemuHost.open(data, InstantSource.system(), new SecureRandom(), System.err::println);
        var request = new VmRequest(image, MachineSize.DEFAULT, Network.NONE, null, Start.COLD);
        try (var machine = TestHost.read(host.start(request, _ -> {}))) {
            var ran = TestHost.run(machine, SCRIPT);
            assertEquals(
                    List.of(
                            "from npm",
                            "own of the image",
                            "a=b c",
                            "/home/agent/.config 755 agent",
                            "/home/agent/.config/own/settings 600 agent",
                            "/etc/own 755 root",
                            "/etc/own/rc 644 root",
                            "/opt/npm 755 root",
                            "/opt/npm/node_modules/@some/tool/bin/run.sh 755 root",
                            "/opt/npm/node_modules/.bin/greet"),
                    ran.out().lines().toList(),
                    ran.error());
        }

        Path elsewhere = folder.resolve("somewhere/else");
        Files.createDirectory(elsewhere.getParent());
        Files.move(data, elsewhere);
        assertMadeAgain(new ImageStore(elsewhere));
    }

    /// On another path, without network and definition the same bytes are made again, and what was changed is found.
    private static void assertMadeAgain(ImageStore store) throws Exception {
        GuestImage image = store.recorded("derived");
        flipByte(image.file(GuestImage.ROOT), 100_000_000);
        Files.delete(image.file(GuestImage.INITRD));
        var found = new GuestImageBuilder(store, InstantSource.system(), System.err::println).verify(image, null);
        assertFalse(found.identical());
        assertEquals(Set.of(GuestImage.ROOT, GuestImage.INITRD), Set.copyOf(found.differing()));
        assertEquals(found.recorded(), found.rebuilt(), "the rebuild has the recorded digest");
        var refused = assertThrows(VmException.class, () -> store.find("derived"));
        assertEquals(VmException.Code.IMAGE_CORRUPT, refused.code());
    }

    private static void flipByte(Path file, long at) throws Exception {
        try (var raw = new RandomAccessFile(file.toFile(), "rw")) {
            raw.seek(at);
            int octet = raw.read();
            raw.seek(at);
            raw.write(octet ^ 1);
        }
    }
}
