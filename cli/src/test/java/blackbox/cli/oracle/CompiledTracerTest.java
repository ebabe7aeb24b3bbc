package blackbox.cli.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.files.Folders;
import blackbox.node.image.LocalImages;
import blackbox.node.record.Installation;
import blackbox.recorder.guest.TracerFiles;
import blackbox.schemas.Hash;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.host.QemuHost;
import blackbox.vm.image.GuestFiles;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.ImageStore;
import blackbox.vm.machine.MachineSize;
import blackbox.vm.machine.Network;
import blackbox.vm.machine.VmRequest;
import blackbox.vm.qemu.GuestCompiler;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The tracer's BPF program is compiled once for an image (docs/decisions/0236).
class CompiledTracerTest {

    @TempDir
    private Path folder;

    /// That compiling again makes the same octets is what `image verify` shows, which takes nothing that is
    /// remembered (`OrdinaryUserTest`).
    @Test
    void whatWasCompiledIsRemembered() throws Exception {
        GuestImage image = image();
        var said = new ArrayList<String>();
        var compiler = new GuestCompiler(Installation.shared(), TracerFiles.COMPILER, TracerFiles.COMPILED, said::add);
        byte[] made = Objects.requireNonNull(compiler.derive(image, GuestFiles.with(TracerFiles.all())));
        assertEquals(
                image.record().guestFiles().get(TracerFiles.COMPILED),
                Hash.sha256(made).toString());
        assertEquals(List.of(), said);
    }

    /// What another kernel's compiler made is not loaded, and no run has to do without a tracer for that.
    @Test
    void aGuestThatCarriesWhatIsNotForItCompilesForItself() throws Exception {
        GuestImage image = image();
        Path data = folder.resolve("data");
        Folders.createPrivate(data);
        Path copy = Files.createDirectories(data.resolve("images").resolve(LocalImages.DEFAULT));
        for (String file :
                new String[] {GuestImage.KERNEL, GuestImage.ROOT, GuestImage.INITRD_BASE, GuestImage.INITRD}) {
            Files.createLink(copy.resolve(file), image.file(file));
        }
        Files.copy(image.file(GuestImage.RECORD), copy.resolve(GuestImage.RECORD));
        var files = new TreeMap<>(TracerFiles.all());
        files.put(TracerFiles.COMPILED, "{\"kernel\": \"another\"}".getBytes(StandardCharsets.UTF_8));
        GuestImage other =
                new ImageStore(data).open(LocalImages.DEFAULT, GuestFiles.with(files), CompiledTracerTest::say);
        assertNotEquals(image.digest(), other.digest());

        JsonNode tracer = ready(data, other);
        assertTrue(tracer.path("compiled").isNull(), tracer::toString);
        assertEquals("[]", tracer.path("failed").toString());
        assertTrue(tracer.path("canary").path("exec").asBoolean(), tracer::toString);
    }

    private static JsonNode ready(Path data, GuestImage image) throws Exception {
        var host = QemuHost.open(data, InstantSource.system(), new SecureRandom(), CompiledTracerTest::say);
        var request = new VmRequest(image, MachineSize.DEFAULT, Network.NONE, null, VmRequest.Start.COLD);
        try (var machine = host.start(request, _ -> {})) {
            return new ObjectMapper().readTree(machine.facts().ready().tracer());
        }
    }

    private static GuestImage image() throws Exception {
        return new LocalImages(new DataFolder(Installation.shared()), CompiledTracerTest::say)
                .open(LocalImages.DEFAULT);
    }

    private static void say(String line) {
        System.err.println("compile test: " + line);
    }
}
