package blackbox.recorder.keys;

import blackbox.evidence.log.NoteSigner;
import blackbox.evidence.log.NoteVerifier;
import blackbox.files.AtomicFiles;
import blackbox.files.ProcessLock;
import blackbox.recorder.RecorderException;
import blackbox.recorder.RecorderException.Code;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/// The long-term key of a data folder: created on first use, opened to sign, replaced by another.
///
/// `log.conf` says which key that is; the classical verifier key is also in `log.pub`, which is among the
/// keys that verification on this machine trusts.
public final class LogKeys {

    /// Says which key signs the log of runs.
    public static final String CONF = "log.conf";

    /// The same for the key that is to take its place, while a rotation is under way.
    private static final String NEXT = "log.next.conf";

    private LogKeys() {}

    /// The options for a new key.
    ///
    /// @param settings what the store needs to know
    /// @param validFor how long it may sign; null for no end
    public record NewKeyOptions(
            StoreKind store,
            SequencedMap<String, String> settings,
            @Nullable Duration validFor) {

        /// A file key that does not expire.
        public static NewKeyOptions standard() {
            return new NewKeyOptions(StoreKind.FILE, new LinkedHashMap<>(), null);
        }
    }

    /// Opens the folder's key; creates a file key if there is none yet.
    ///
    /// @throws RecorderException when it cannot be opened: a missing store, a wrong passphrase, a key other
    ///     than the one that `log.conf` names
    public static LogKey loadOrCreate(Path folder, KeyAccess access) throws RecorderException {
        if (!OwnerFile.exists(folder.resolve(CONF))) {
            try (ProcessLock _ = KeysLock.take(folder)) {
                if (!OwnerFile.exists(folder.resolve(CONF))) {
                    return createLocked(folder, NewKeyOptions.standard(), access);
                }
            } catch (IOException e) {
                throw LogKeyStore.failed("cannot create a key in " + folder, e);
            }
        }
        return load(folder, access);
    }

    /// Creates the folder's first key.
    ///
    /// @throws RecorderException when there is one already, or the store refuses
    public static LogKey create(Path folder, NewKeyOptions options, KeyAccess access) throws RecorderException {
        try (ProcessLock _ = KeysLock.take(folder)) {
            if (OwnerFile.exists(folder.resolve(CONF))) {
                throw new RecorderException(
                        Code.KEY, "there already is a key in " + folder + "; to replace it, rotate it");
            }
            return createLocked(folder, options, access);
        } catch (IOException e) {
            throw LogKeyStore.failed("cannot create a key in " + folder, e);
        }
    }

    private static LogKey createLocked(Path folder, NewKeyOptions options, KeyAccess access)
            throws RecorderException, IOException {
        Instant now = access.clock().instant();
        String origin = "blackbox/log/" + RunId.create(now, access.random());
        LogKey key = make(folder, origin, now, options, access);
        write(folder, key.conf());
        return key;
    }

    private static LogKey make(Path folder, String origin, Instant now, NewKeyOptions options, KeyAccess access)
            throws RecorderException {
        LogKeyStore store = LogKeyStore.of(options.store(), folder, access);
        LogKeyStore.Opened made = store.create(origin, options.settings());
        Duration validFor = options.validFor();
        var conf = new LogKeyConf(
                origin,
                now,
                validFor == null ? null : now.plus(validFor),
                options.store(),
                made.signers().stream()
                        .map(signer -> signer.verifier().encoded())
                        .toList(),
                made.settings());
        return new LogKey(conf, made.signers(), made.device());
    }

    private static void write(Path folder, LogKeyConf conf) throws IOException {
        OwnerFile.writePublic(folder.resolve(DataFolder.LOG_KEY), conf.keys().getFirst() + "\n");
        OwnerFile.write(folder.resolve(CONF), conf.text());
    }

    /// The content of `log.conf`, without touching the private key; null if there is none.
    ///
    /// @throws RecorderException when it cannot be read
    public static @Nullable LogKeyConf conf(Path folder) throws RecorderException {
        return conf(folder, CONF);
    }

    private static @Nullable LogKeyConf conf(Path folder, String name) throws RecorderException {
        Path file = folder.resolve(name);
        if (!OwnerFile.exists(file)) {
            return null;
        }
        try {
            return LogKeyConf.parse(Files.readString(file));
        } catch (IOException | IllegalArgumentException e) {
            throw LogKeyStore.failed("cannot use " + file, e);
        }
    }

    /// Opens the folder's key.
    ///
    /// @throws RecorderException as [#loadOrCreate], or when there is none
    public static LogKey load(Path folder, KeyAccess access) throws RecorderException {
        LogKeyConf conf = conf(folder);
        if (conf == null) {
            throw new RecorderException(Code.KEY, "there is no key in " + folder + " yet");
        }
        return open(folder, conf, access);
    }

    /// Whether a rotation was begun and not finished.
    public static boolean isRotating(Path folder) {
        return OwnerFile.exists(folder.resolve(NEXT));
    }

    /// Begins a rotation: creates the key that will replace the folder's, or opens it again if a rotation was
    /// begun before and not finished. Nothing uses it before [#promote].
    public static LogKey prepareNext(Path folder, NewKeyOptions options, KeyAccess access) throws RecorderException {
        try (ProcessLock _ = KeysLock.take(folder)) {
            LogKeyConf begun = conf(folder, NEXT);
            if (begun != null) {
                return open(folder, begun, access);
            }
            LogKeyConf now = conf(folder);
            if (now == null) {
                throw new RecorderException(Code.KEY, "there is no key in " + folder + " to rotate");
            }
            LogKey next = make(folder, now.origin(), access.clock().instant(), options, access);
            OwnerFile.write(folder.resolve(NEXT), next.conf().text());
            return next;
        } catch (IOException e) {
            throw LogKeyStore.failed("cannot create a key in " + folder, e);
        }
    }

    /// Finishes a rotation: the next key is the folder's from now on, and the private key that it replaces is
    /// destroyed. To be called once the log of runs contains the rotation.
    public static void promote(Path folder, KeyAccess access) throws RecorderException {
        try (ProcessLock _ = KeysLock.take(folder)) {
            LogKeyConf old = conf(folder);
            LogKeyConf next = conf(folder, NEXT);
            if (old == null || next == null) {
                throw new RecorderException(Code.KEY, "no rotation is under way in " + folder);
            }
            OwnerFile.writePublic(
                    folder.resolve(DataFolder.LOG_KEY), next.keys().getFirst() + "\n");
            AtomicFiles.put(folder.resolve(NEXT), folder.resolve(CONF));
            LogKeyStore.of(old.store(), folder, access).destroy(old);
        } catch (IOException e) {
            throw LogKeyStore.failed("cannot finish the rotation in " + folder, e);
        }
    }

    private static LogKey open(Path folder, LogKeyConf conf, KeyAccess access) throws RecorderException {
        try {
            LogKeyStore.Opened opened =
                    LogKeyStore.of(conf.store(), folder, access).open(conf);
            for (NoteSigner signer : opened.signers()) {
                requireNamed(signer.verifier(), conf, folder);
            }
            return new LogKey(conf, opened.signers(), opened.device());
        } catch (IllegalArgumentException e) {
            throw LogKeyStore.failed("cannot open the key that " + folder.resolve(CONF) + " names", e);
        }
    }

    private static void requireNamed(NoteVerifier verifier, LogKeyConf conf, Path folder) throws RecorderException {
        if (!conf.keys().contains(verifier.encoded())) {
            throw new RecorderException(
                    Code.KEY,
                    "the key in the store is " + verifier.encoded() + ", which is not one that " + folder.resolve(CONF)
                            + " names");
        }
    }
}
