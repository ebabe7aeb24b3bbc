package blackbox.node.data;

import blackbox.schemas.Hash;
import blackbox.vm.FileFingerprint;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;

/// An image `default` as a build leaves it, with a few octets in each of its files.
public final class StoredImage {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String NONE = Hash.sha256(new byte[0]).toString();

    private StoredImage() {}

    /// Stores it in a folder of images; returns the text whose SHA-256 is its digest.
    public static String in(Path images) throws Exception {
        Path image = Files.createDirectories(images.resolve("default"));
        var seals = new TreeMap<String, FileFingerprint>();
        var text = new StringBuilder("blackbox-image-v1\n");
        for (String name : List.of("vmlinuz", "initrd.img", "root.erofs")) {
            var fingerprint = FileFingerprint.of(Files.writeString(image.resolve(name), name));
            seals.put(name, fingerprint);
            text.append(name).append(' ').append(fingerprint.sha256()).append('\n');
        }
        text.append("arguments quiet\n");
        String digest =
                Hash.sha256(text.toString().getBytes(StandardCharsets.UTF_8)).toString();
        ObjectNode record = JSON.createObjectNode().put("format", 1).put("digest", digest);
        record.put("builtAt", "2026-11-20T00:00:00Z").put("lockRenewed", false);
        record.set("definition", JSON.readTree("""
                {"format":1,"name":"default","suite":"bookworm","architecture":"amd64","packages":["bash"],
                 "kernel":"linux-image","headers":"linux-headers","modules":["x"],"kernelArguments":["quiet"]}
                """));
        record.set("lock", JSON.readTree("""
                {"format":1,"inputsSha256":"NONE","epoch":1,"packages":[{"name":"bash","version":"5",
                 "architecture":"amd64","sha256":"NONE","bytes":1,"use":"ROOT"}]}
                """.replace("NONE", NONE)));
        record.set("files", JSON.valueToTree(seals));
        record.putObject("guestFiles");
        record.putObject("tools");
        Files.writeString(image.resolve("image.json"), record.toString());
        return text.toString();
    }
}
