package blackbox.vault.parcel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import com.github.luben.zstd.Zstd;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/// The container, `schemas/parcel.md`.
class ParcelTest {

    private static final RunId RUN = new RunId("01jd8x3k9zq4v7w2m5n6p8r0st");

    private static byte[] octets(int length, int seed) {
        var octets = new byte[length];
        new Random(seed).nextBytes(octets);
        return octets;
    }

    private static final Map<String, byte[]> FILES = new TreeMap<>(Map.of(
            "bundle.zip", octets(5_000, 1),
            "capture/stdout", "printed\n".getBytes(StandardCharsets.US_ASCII),
            "capture/stdin", new byte[0],
            "capture/ram", new byte[3_000_000],
            "image/root.erofs", octets(1_200_000, 2)));

    private static byte[] written(int workers) throws IOException {
        List<ParcelPart> parts = FILES.entrySet().stream()
                .map(each -> ParcelPart.file(each.getKey(), each.getValue().length))
                .toList();
        var out = new ByteArrayOutputStream();
        try (var writer = new ParcelWriter(out, new ParcelManifest(RUN, parts), workers)) {
            long sum = 0;
            for (byte[] octets : FILES.values()) {
                sum += writer.put(new ByteArrayInputStream(octets));
            }
            writer.finish();
            assertTrue(sum > 1_205_000 && sum < out.size(), sum + " of " + out.size());
        }
        return out.toByteArray();
    }

    private static Map<String, byte[]> read(byte[] file) throws IOException {
        var files = new TreeMap<String, byte[]>();
        try (var reader = new ParcelReader(new ByteArrayInputStream(file))) {
            for (ParcelPart part : reader.manifest().parts()) {
                try (InputStream in = reader.next()) {
                    files.put(part.name(), in.readAllBytes());
                }
            }
            reader.end();
        }
        return files;
    }

    private static void assertSame(Map<String, byte[]> files) {
        assertEquals(FILES.keySet(), files.keySet());
        FILES.forEach((name, octets) -> assertArrayEquals(octets, files.get(name), name));
    }

    @Test
    void whatIsWrittenIsRead() throws Exception {
        assertSame(read(written(0)));
        assertSame(read(written(2)));
        assertTrue(written(1).length < 1_300_000);
    }

    @Test
    void whateverIsChangedIsRefused() throws Exception {
        byte[] file = written(0);
        var random = new Random(205);
        for (int i = 0; i < 120; i++) {
            byte[] changed = file.clone();
            int at = i < 80 ? i : random.nextInt(file.length);
            changed[at] ^= (byte) (1 << random.nextInt(8));
            assertThrows(MalformedParcelException.class, () -> read(changed), "octet " + at);
            byte[] cut = Arrays.copyOf(file, i < 40 ? i : random.nextInt(file.length));
            assertThrows(MalformedParcelException.class, () -> read(cut), "cut at " + cut.length);
        }
        assertThrows(MalformedParcelException.class, () -> read(Arrays.copyOf(file, file.length + 1)));
    }

    /// A stream that is longer or shorter than declared, with a digest that fits: somebody made it so.
    @Test
    void theManifestDecidesHowMuchIsRead() throws Exception {
        byte[] text = "run %s\nfile 10 a\n".formatted(RUN).getBytes(StandardCharsets.US_ASCII);
        assertArrayEquals(new byte[10], read(forged(text, new byte[10])).get("a"));
        for (int length : new int[] {0, 9, 11, 20_000_000}) {
            assertThrows(MalformedParcelException.class, () -> read(forged(text, new byte[length])), "of " + length);
        }
        byte[] plain = new byte[10];
        byte[] wide = Zstd.compress(new byte[16 << 20], 22);
        assertThrows(MalformedParcelException.class, () -> read(sealed(text, wide)), "a window that is too wide");
        byte[] frames = Zstd.compress(plain);
        byte[] two = Arrays.copyOf(frames, 2 * frames.length);
        System.arraycopy(frames, 0, two, frames.length, frames.length);
        assertThrows(MalformedParcelException.class, () -> read(sealed(text, two)));
    }

    private static byte[] forged(byte[] manifest, byte[] plain) {
        return sealed(manifest, Zstd.compress(plain));
    }

    private static byte[] sealed(byte[] manifest, byte[] compressed) {
        var out = new ByteArrayOutputStream();
        out.writeBytes("blackbox/parcel/v1\n".getBytes(StandardCharsets.US_ASCII));
        out.writeBytes(ByteBuffer.allocate(4).putInt(manifest.length).array());
        out.writeBytes(manifest);
        for (int at = 0; at < compressed.length; at += 1 << 20) {
            int length = Math.min(1 << 20, compressed.length - at);
            out.writeBytes(ByteBuffer.allocate(4).putInt(length).array());
            out.write(compressed, at, length);
        }
        out.writeBytes(new byte[4]);
        out.writeBytes(Hash.sha256(out.toByteArray()).toBytes());
        return out.toByteArray();
    }

    @Test
    void namesAndManifestsAreReadStrictly() {
        for (String lines : List.of(
                "",
                "file 1 ../a\n",
                "file 1 /a\n",
                "file 1 a/./b\n",
                "file 1 a/../../b\n",
                "file 1 a//b\n",
                "file 1 a b\n",
                "file 1 a\\b\n",
                "file 01 a\n",
                "file -1 a\n",
                "file 99999999999999 a\n",
                "file 1 a\nfile 1 a\n",
                "file 1 a\nfile 1 a/b\n",
                "link a -> /etc/passwd\n",
                "link q/root/a -> ../../../b\n",
                "link q/a -> b/../../../c\n",
                "link a ->\n",
                "program x a\n",
                "file 1 a",
                "else 1 a\n")) {
            byte[] text = ("run " + RUN + "\n" + lines).getBytes(StandardCharsets.US_ASCII);
            assertThrows(MalformedParcelException.class, () -> ParcelManifest.parse(text), lines);
        }
    }

    @Test
    void linksStayBelowTheirFolder() throws Exception {
        byte[] text = ("run " + RUN + "\nlink q/root/lib/a.so -> ../b/a.so.1\nprogram 5 q/root/b/a.so.1\n")
                .getBytes(StandardCharsets.US_ASCII);
        ParcelManifest manifest = ParcelManifest.parse(text);
        assertEquals("../b/a.so.1", manifest.parts().getFirst().link());
        assertTrue(manifest.parts().getLast().executable());
        assertArrayEquals(text, manifest.octets());
    }

    /// A file of version 1, as it was first written: it must stay readable.
    @Test
    void theGoldenFileIsRead() throws Exception {
        try (InputStream in = ParcelTest.class.getResourceAsStream("v1.hex")) {
            String hex = new String(java.util.Objects.requireNonNull(in).readAllBytes(), StandardCharsets.US_ASCII);
            byte[] golden = HexFormat.of().parseHex(hex.replace("\n", ""));
            Map<String, byte[]> files = read(golden);
            assertEquals(List.of("bundle.zip", "capture/stdout", "qemu/root/x"), List.copyOf(files.keySet()));
            assertArrayEquals("printed\n".getBytes(StandardCharsets.US_ASCII), files.get("capture/stdout"));
            assertArrayEquals(octets(300, 1), files.get("bundle.zip"));
            for (int at = 0; at < golden.length; at++) {
                byte[] changed = golden.clone();
                changed[at] ^= 4;
                assertThrows(MalformedParcelException.class, () -> read(changed), "octet " + at);
            }
        }
    }
}
