package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// An image is carried to an empty data folder, on a machine without a network, and built there.
class CarriedImageTest {
    @TempDir
    Path folder;

    private Installation blackbox;
    private Path carried;
    private Path elsewhere;

    @BeforeEach
    void export() throws Exception {
        blackbox = Installation.in(folder);
        carried = folder.resolve("default.bbimage");
        elsewhere = folder.resolve("elsewhere");
        blackbox.run("image", "export", "default", carried.toString()).expect(0);
    }

    @Test
    void itIsTheSameImageWhereThereIsNoNetwork() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root can create a network namespace here");
        // Other tests build images in the same folder.
        var images = blackbox.run("image", "list", "--json").expect(0).json();
        var exported = StreamSupport.stream(images.spliterator(), false)
                .filter(image -> image.path("name").asText().equals("default"))
                .findFirst()
                .orElseThrow();
        var taken = importing().expect(0).json();
        assertEquals(exported.get("digest"), taken.at("/image/digest"));
        bringWhatWasCompiled();
        var alone = new ArrayList<>(List.of("unshare", "--net"));
        alone.addAll(Installation.command("image", "build", "--json", "--data", elsewhere.toString()));
        var built = blackbox.start(new ProcessBuilder(alone))
                .await()
                .expect(0)
                .saying("building from the imported packages")
                .saying("octet for octet");
        assertEquals(exported.get("digest"), built.json().get("digest"));
    }

    /// As if the machine had compiled the same tracer before, and tried its QEMU. What it would make again,
    /// in minutes, is what `image verify` compares (`OrdinaryUserTest`).
    private void bringWhatWasCompiled() throws Exception {
        Path cache = Files.createDirectories(elsewhere.resolve("cache"));
        try (var kept = Files.list(blackbox.data().resolve("cache"))) {
            for (Path each : kept.toList()) {
                String name = each.getFileName().toString();
                if (name.startsWith("trial-") || name.startsWith("compiled-")) {
                    Files.copy(each, cache.resolve(name));
                }
                if (name.startsWith("compiled-")) {
                    for (JsonNode made :
                            new ObjectMapper().readTree(each.toFile()).path("all")) {
                        Path object =
                                Path.of("archive/sha256", made.path("sha256").asText());
                        Files.copy(
                                blackbox.data().resolve(object),
                                elsewhere.resolve(object),
                                StandardCopyOption.REPLACE_EXISTING);
                    }
                }
            }
        }
    }

    @Test
    void damagedOrForeignFilesAreRefusedAndExportsReplaceNothingUnasked() throws Exception {
        blackbox.run("image", "export", "default", carried.toString()).expect(2).saying("--force");
        blackbox.run("image", "export", "default", "--force", carried.toString())
                .expect(0);
        blackbox.run("image", "export", "nosuch", folder.resolve("no").toString())
                .expect(2);
        byte[] whole = Files.readAllBytes(carried);
        whole[whole.length / 2] ^= 1;
        Files.write(carried, whole);
        importing().expect(1).saying("is truncated or altered");
        Files.writeString(carried, "something else\n");
        importing().expect(2).saying("is not an image archive");
        Files.delete(carried);
        importing().expect(2).saying("could not be read");
        assertFalse(Files.exists(elsewhere.resolve("archive/sha256")));
        assertTrue(Files.isDirectory(blackbox.data().resolve("archive/sha256")));
    }

    private Installation.Ended importing() throws Exception {
        return blackbox.run("image", "import", "--json", "--data", elsewhere.toString(), carried.toString());
    }
}
