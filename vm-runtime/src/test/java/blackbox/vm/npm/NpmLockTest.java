package blackbox.vm.npm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Which packages a package-lock.json names for the guest, and what is refused in one.
class NpmLockTest {
    private static final String SHA512 = "sha512-" + Base64.getEncoder().encodeToString(new byte[64]);
    private static final String PIN = "\"version\":\"1.2.3\",\"integrity\":\"" + SHA512 + "\"";

    @Test
    void theTreeIsAsTheLockHasIt() throws Exception {
        NpmLock lock = read("\"dependencies\":{\"a\":\"*\"},\"optionalDependencies\":{\"@s/b\":\"*\"}", """
                "node_modules/a": {%1$s, "bin": {"run": "./bin/run.js"}, "resolved": "https://somewhere/a.tgz"},
                "node_modules/a/node_modules/c": {%1$s},
                "node_modules/@s/b": {%1$s},
                "node_modules/alias": {%1$s, "name": "@s/real"}
                """);
        assertEquals(
                List.of(
                        "node_modules/@s/b @s/b@1.2.3 true {}",
                        "node_modules/a a@1.2.3 true {run=bin/run.js}",
                        "node_modules/a/node_modules/c c@1.2.3 false {}",
                        "node_modules/alias @s/real@1.2.3 false {}"),
                lock.packages().stream()
                        .map(each -> each.path() + " " + each.spec() + " " + each.direct() + " " + each.bin())
                        .toList());
    }

    @Test
    void whatIsNotForTheGuestIsLeftOutWithWhatIsBelowIt() throws Exception {
        assertEquals(List.of("a", "for-it", "linux-text", "not-excluded"), names(read("", """
                "node_modules/a": {%1$s},
                "node_modules/dev": {%1$s, "dev": true},
                "node_modules/a/node_modules/bundled": {"version": "1.0.0", "inBundle": true},
                "node_modules/stray": {%1$s, "extraneous": true},
                "node_modules/mac": {%1$s, "optional": true, "os": ["darwin"]},
                "node_modules/mac/node_modules/below": {%1$s, "optional": true},
                "node_modules/arm": {%1$s, "optional": true, "cpu": ["arm64"], "os": ["linux"]},
                "node_modules/musl": {%1$s, "optional": true, "libc": ["musl"]},
                "node_modules/no-linux": {%1$s, "devOptional": true, "os": ["!linux"]},
                "node_modules/for-it": {%1$s, "os": ["darwin", "linux"], "cpu": ["x64"], "libc": ["glibc"]},
                "node_modules/linux-text": {%1$s, "os": "linux", "cpu": "x64"},
                "node_modules/not-excluded": {%1$s, "os": ["!win32"]}
                """)));
    }

    @Test
    void whatCannotBeInAnImageIsRefusedByName() {
        refused("\"node_modules/a\": {%s, \"os\": [\"darwin\"]}", "node_modules/a", "not for the guest");
        refused("\"node_modules/a\": {\"version\": \"1.0.0\"}", "node_modules/a", "integrity");
        refused("\"node_modules/a\": {\"integrity\": \"" + SHA512 + "\"}", "node_modules/a", "version");
        refused(
                "\"node_modules/a\": {\"version\": \"1.0.0\", \"integrity\": \"sha1-abc=\"}",
                "node_modules/a",
                "SHA-512");
        refused(
                "\"node_modules/a\": {\"version\": \"1.0.0\", \"integrity\": \"sha512-abc=\"}",
                "node_modules/a",
                "SHA-512");
        refused("\"node_modules/a\": {\"resolved\": \"packages/a\", \"link\": true}", "node_modules/a", "folder");
        refused("\"packages/a\": {%s}", "packages/a", "folder");
        refused("\"node_modules/a\": {%s, \"resolved\": \"git+ssh://git@host/a.git#1\"}", "git+ssh:", "registry");
        refused("\"node_modules/a\": {%s, \"resolved\": \"file:a.tgz\"}", "file:", "registry");
        refused("", "no packages");
    }

    @Test
    void namesAndPathsThatLeadElsewhereAreRefused() {
        for (String path : List.of(
                "node_modules/../a",
                "node_modules/a/../../b",
                "node_modules/a/b",
                "node_modules//a",
                "node_modules/.bin",
                "node_modules/@a",
                "node_modules/a/node_modules/")) {
            refused("\"" + path + "\": {%s}", path);
        }
        refused("\"node_modules/a\": {%s, \"name\": \"--registry=x\"}", "--registry=x");
        refused("\"node_modules/a\": {\"version\": \"1 --x\", \"integrity\": \"" + SHA512 + "\"}", "1 --x");
        for (String bin : List.of("../x", "/bin/sh", "a/../../x", "")) {
            refused("\"node_modules/a\": {%s, \"bin\": {\"x\": \"" + bin + "\"}}", "the command 'x'");
        }
        refused("\"node_modules/a\": {%s, \"bin\": {\"../x\": \"x\"}}", "../x");
    }

    @Test
    void installScriptsAreNamed() throws Exception {
        String scripted = "\"node_modules/a\": {%1$s, \"hasInstallScript\": true}, \"node_modules/b\": {%1$s}";
        refused(scripted, "1 package wants", "a;", "withoutScripts");
        assertTrue(read("", scripted, Set.of("a")).packages().getFirst().scriptsLeftOut());
        assertFalse(read("", scripted, Set.of("a")).packages().getLast().scriptsLeftOut());
        var unknown = assertThrows(VmException.class, () -> read("", scripted, Set.of("a", "c")));
        assertTrue(unknown.getMessage().contains("'c'"), unknown.getMessage());
    }

    @Test
    void onlyLocksWithPackagesAreRead() {
        for (Map.Entry<String, String> each : Map.of(
                        "{\"lockfileVersion\": 1, \"packages\": {}}", "version 3",
                        "{\"lockfileVersion\": 3}", "version 3",
                        "[]", "version 3",
                        "{\n\"a\": x}", "line 2")
                .entrySet()) {
            var failure = assertThrows(
                    VmException.class,
                    () -> NpmLock.read(each.getKey().getBytes(StandardCharsets.UTF_8), "lock.json", Set.of()));
            assertEquals(Code.IMAGE_DEFINITION, failure.code());
            assertTrue(failure.getMessage().contains("lock.json"), failure.getMessage());
            assertTrue(failure.getMessage().contains(each.getValue()), failure.getMessage());
        }
    }

    private static void refused(String packages, String... words) {
        var failure = assertThrows(VmException.class, () -> read("", packages));
        assertEquals(Code.IMAGE_DEFINITION, failure.code());
        for (String each : words) {
            assertTrue(failure.getMessage().contains(each), failure.getMessage());
        }
    }

    private static NpmLock read(String root, String packages) throws VmException {
        return read(root, packages, Set.of());
    }

    private static NpmLock read(String root, String packages, Set<String> withoutScripts) throws VmException {
        String text = "{\"lockfileVersion\": 3, \"packages\": {\"\": {" + root + "}" + (packages.isEmpty() ? "" : ",")
                + packages.formatted(PIN) + "}}";
        return NpmLock.read(text.getBytes(StandardCharsets.UTF_8), "lock.json", withoutScripts);
    }

    private static List<String> names(NpmLock lock) {
        return lock.packages().stream().map(NpmPackage::name).toList();
    }
}
