package blackbox.recorder.keys;

import blackbox.evidence.sign.EcdsaVerifier;
import blackbox.files.AtomicFiles;
import blackbox.recorder.RecorderException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/// Keys of a TPM 2.0: ECDSA P-256, generated in the TPM under the primary key of its owner hierarchy. Stored
/// here are the two blobs that the TPM returned, of which the private one is encrypted to this TPM; none of
/// the TPM's own memory is used up, and a copy of the folder cannot sign on another machine.
final class TpmKeyStore implements LogKeyStore {

    /// How to reach the TPM, as a tpm2-tss TCTI string.
    static final String TCTI = "tcti";

    private static final String TCTI_DEFAULT = "device:/dev/tpmrm0";
    private static final String PUBLIC = "tpm-public-file";
    private static final String PRIVATE = "tpm-private-file";

    private final Path folder;

    TpmKeyStore(Path folder) {
        this.folder = folder;
    }

    @Override
    public Opened create(String origin, SequencedMap<String, String> settings) throws RecorderException {
        String tcti = settings.getOrDefault(TCTI, TCTI_DEFAULT);
        try {
            TpmTools tools = TpmTools.open(folder, tcti);
            try {
                TpmTools.Blobs blobs = tools.create();
                EcdsaVerifier verifier = EcdsaVerifier.ofSpki(origin, tools.load(blobs));
                String name = String.format("log-%08x", verifier.keyId());
                var written = new LinkedHashMap<String, String>();
                written.put(TCTI, tcti);
                written.put(PUBLIC, name + ".tpm-public");
                written.put(PRIVATE, name + ".tpm-private");
                OwnerFile.write(folder.resolve(name + ".tpm-public"), blobs.publicBlob());
                OwnerFile.write(folder.resolve(name + ".tpm-private"), blobs.privateBlob());
                return new Opened(List.of(new DeviceKey(verifier, tools::sign)), written, tools);
            } catch (IOException | RuntimeException e) {
                tools.close();
                throw e;
            }
        } catch (IOException | IllegalArgumentException e) {
            throw LogKeyStore.failed("cannot create a key in the TPM", e);
        }
    }

    @Override
    public Opened open(LogKeyConf conf) throws RecorderException {
        try {
            var blobs = new TpmTools.Blobs(
                    Files.readAllBytes(folder.resolve(conf.setting(PUBLIC))),
                    Files.readAllBytes(folder.resolve(conf.setting(PRIVATE))));
            TpmTools tools = TpmTools.open(folder, conf.setting(TCTI));
            try {
                EcdsaVerifier verifier = EcdsaVerifier.ofSpki(conf.origin(), tools.load(blobs));
                return new Opened(List.of(new DeviceKey(verifier, tools::sign)), conf.settings(), tools);
            } catch (IOException | RuntimeException e) {
                tools.close();
                throw e;
            }
        } catch (IOException e) {
            throw LogKeyStore.failed("cannot open the key in the TPM", e);
        }
    }

    @Override
    public void destroy(LogKeyConf conf) throws RecorderException {
        try {
            AtomicFiles.delete(folder.resolve(conf.setting(PRIVATE)));
            AtomicFiles.delete(folder.resolve(conf.setting(PUBLIC)));
        } catch (IOException e) {
            throw LogKeyStore.failed("cannot delete the old key in the TPM", e);
        }
    }
}
