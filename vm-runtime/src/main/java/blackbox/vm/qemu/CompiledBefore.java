package blackbox.vm.qemu;

import blackbox.schemas.Hash;
import blackbox.vm.Json;
import blackbox.vm.image.GuestImage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// What [GuestCompiler] made of the same sources with the same kernel.
///
/// @param all the latest last
record CompiledBefore(List<Made> all) {
    private static final int KEPT = 16;

    /// What was made in one root.
    ///
    /// @param sha256 of the content
    /// @param root digest of the root
    /// @param packages uses and digests of the packages that the root was made of; none if a definition's files
    ///     are in it too, since what those did to the compiler is not for other roots
    record Made(String sha256, String root, Set<String> packages) {
        Made {
            Hash.ofHex(sha256);
            Hash.ofHex(root);
            packages = Collections.unmodifiableSet(new TreeSet<>(packages));
        }
    }

    CompiledBefore {
        all = List.copyOf(all);
    }

    /// None where the file is missing or cannot be read.
    static CompiledBefore read(Path file) {
        CompiledBefore read = Json.cached(file, CompiledBefore.class);
        return read == null ? new CompiledBefore(List.of()) : read;
    }

    /// The digest of what was made for this image: in the same root, or in one of packages that this image has,
    /// too. What else is in this one had no part in it, and need not be trusted for it.
    @Nullable
    String content(GuestImage image) {
        for (Made each : all.reversed()) {
            boolean contained = !each.packages().isEmpty() && packages(image).containsAll(each.packages());
            if (contained || each.root().equals(root(image))) {
                return each.sha256();
            }
        }
        return null;
    }

    /// With what was made in this image's root.
    CompiledBefore with(String sha256, GuestImage image) {
        boolean alone = image.record().definition().additions() == null;
        var made = new Made(sha256, root(image), alone ? packages(image) : Set.of());
        var now = new ArrayList<>(all);
        now.removeIf(each -> each.root().equals(made.root()));
        now.add(made);
        return new CompiledBefore(List.copyOf(now.subList(Math.max(0, now.size() - KEPT), now.size())));
    }

    private static String root(GuestImage image) {
        return image.sha256(GuestImage.ROOT).toString();
    }

    private static Set<String> packages(GuestImage image) {
        return image.record().lock().packages().stream()
                .map(each -> each.use() + " " + each.sha256())
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
