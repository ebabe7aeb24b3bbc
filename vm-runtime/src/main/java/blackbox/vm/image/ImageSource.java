package blackbox.vm.image;

import blackbox.schemas.Progress;
import blackbox.vm.VmException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// What an image is to be built from.
public interface ImageSource {

    /// Its definition without additions.
    ImageDefinition plain();

    /// The lock that is kept with it; null if there is none. It may be of another definition, when packages
    /// were added to this one since: its packages are taken then where they can be.
    @Nullable
    ImageLock lock();

    /// What it is based on, whose lock counts where it has none of its own; null for nothing.
    @Nullable
    ImageSource base();

    /// Its definition, with everything that it adds in the archive.
    ///
    /// @param scratch for downloads, deleted with the build
    /// @throws VmException `MIRROR`, `PACKAGE_REFUSED`, `IMAGE_DEFINITION`
    ImageDefinition whole(PackageArchive archive, Path scratch, Progress progress) throws VmException;

    /// The image was built, of these packages.
    void built(ImageLock lock, Progress progress) throws VmException;

    /// A definition that is complete, with the lock that goes with it.
    static ImageSource of(ImageDefinition definition, @Nullable ImageLock lock) {
        return new Complete(definition, lock);
    }

    /// A definition that ships with Blackbox and is based on nothing, with its lock if that fits.
    static ImageSource shipped(ImageDefinition definition) throws VmException {
        return of(definition, ImageLock.shipped(definition));
    }

    /// See [#of].
    record Complete(ImageDefinition definition, @Nullable ImageLock lock) implements ImageSource {
        @Override
        public ImageDefinition plain() {
            return definition;
        }

        @Override
        public @Nullable ImageSource base() {
            return null;
        }

        @Override
        public ImageDefinition whole(PackageArchive archive, Path scratch, Progress progress) {
            return definition;
        }

        @Override
        public void built(ImageLock lock, Progress progress) {}
    }
}
