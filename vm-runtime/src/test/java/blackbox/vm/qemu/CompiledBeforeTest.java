package blackbox.vm.qemu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import blackbox.schemas.Hash;
import blackbox.vm.FileFingerprint;
import blackbox.vm.Json;
import blackbox.vm.image.FakeImage;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.GuestImage.ImageRecord;
import blackbox.vm.image.ImageAdditions;
import blackbox.vm.image.ImageLock;
import blackbox.vm.image.ImageLock.LockedPackage;
import blackbox.vm.image.ImageLock.PackageUse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompiledBeforeTest {
    private static final String TRACER = sha256("the tracer");

    @TempDir
    Path folder;

    private ImageRecord any;

    @BeforeEach
    void image() throws Exception {
        any = FakeImage.in(folder).record();
    }

    @Test
    void anImageThatHasTheSamePackagesAndMoreTakesWhatWasCompiledForThem() throws Exception {
        CompiledBefore before = none().with(TRACER, image("base", false, "libc", "clang"));
        assertEquals(TRACER, before.content(image("other", false, "libc", "clang")));
        assertEquals(TRACER, before.content(image("more", false, "node", "libc", "clang")));
        assertEquals(TRACER, before.content(image("with files", true, "libc", "clang")));
        assertNull(before.content(image("fewer", false, "libc")));
        assertNull(before.content(image("another compiler", false, "libc", "clang-2")));
    }

    @Test
    void whatWasCompiledBesideAddedFilesIsForThatRootAlone() throws Exception {
        CompiledBefore before = none().with(TRACER, image("with files", true, "libc"));
        assertEquals(TRACER, before.content(image("with files", true, "libc")));
        assertNull(before.content(image("base", false, "libc")));
        assertNull(before.content(image("other files", true, "libc")));
    }

    @Test
    void theLatestCounts() throws Exception {
        CompiledBefore before =
                none().with(sha256("old"), image("base", false, "libc")).with(TRACER, image("base", false, "libc"));
        assertEquals(TRACER, before.content(image("more", false, "libc", "node")));
        assertEquals(1, before.all().size());
        for (int i = 0; i < 40; i++) {
            before = before.with(sha256("tracer " + i), image("root " + i, true, "libc"));
        }
        assertEquals(16, before.all().size());
        assertEquals(sha256("tracer 39"), before.content(image("root 39", true, "libc")));
    }

    @Test
    void aNoteIsReadAsItWasWrittenAndOneThatIsNoneIsNone() throws Exception {
        CompiledBefore before = none().with(TRACER, image("base", false, "libc", "clang"));
        Path file = folder.resolve("note.json");
        Json.write(file, before);
        assertEquals(before, CompiledBefore.read(file));
        for (String text :
                List.of("", "{}", "{\"sha256\": \"" + TRACER + "\"}", "[1]", "{\"all\":[{}]}", "{\"all\":[null]}")) {
            assertEquals(none(), CompiledBefore.read(Files.writeString(file, text)));
        }
        assertEquals(none(), CompiledBefore.read(folder.resolve("missing")));
    }

    private static CompiledBefore none() {
        return new CompiledBefore(List.of());
    }

    private GuestImage image(String root, boolean withFiles, String... packages) throws Exception {
        var files = new HashMap<>(any.files());
        files.put(GuestImage.ROOT, FileFingerprint.of(Files.writeString(folder.resolve("root"), root)));
        var lock = new ImageLock(
                1,
                any.lock().inputsSha256(),
                1,
                Stream.of(packages)
                        .map(each -> new LockedPackage(each, "1", "amd64", sha256(each), 1, PackageUse.ROOT))
                        .toList());
        var added = new ImageAdditions("default", List.of(), List.of(), new TreeMap<>(), new TreeMap<>());
        var record = new ImageRecord(
                1,
                any.digest(),
                any.builtAt(),
                withFiles ? any.definition().with(added) : any.definition(),
                lock,
                files,
                Map.of(),
                false,
                List.of(),
                Map.of());
        return new GuestImage(FakeImage.NAME, Hash.ofHex(any.digest()), folder, record);
    }

    private static String sha256(String text) {
        return Hash.sha256(text.getBytes(StandardCharsets.UTF_8)).toString();
    }
}
