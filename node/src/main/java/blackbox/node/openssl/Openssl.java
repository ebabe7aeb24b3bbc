package blackbox.node.openssl;

import blackbox.evidence.sign.Ed25519Shortcut;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import org.jspecify.annotations.Nullable;

/// OpenSSL 3's libcrypto, where the machine has it. Safe for use by many threads.
///
/// Its Ed25519 verification is cofactorless, bounds S and compares encodings of R, so a signature that it
/// accepts is one that the JDK accepts too.
public final class Openssl implements Ed25519Shortcut {

    private static final String LIBRARY = "libcrypto.so.3";

    private final String version;

    private Openssl(String version) {
        this.version = version;
    }

    /// The machine's library, or null if there is none that can be loaded.
    public static @Nullable Openssl load() {
        if (System.getProperty("jna.tmpdir") == null) {
            System.setProperty("jna.tmpdir", System.getProperty("java.io.tmpdir")); // otherwise it is the home folder
        }
        try {
            Native.register(Crypto.class, NativeLibrary.getInstance(LIBRARY));
            // Keeps out whatever the machine's openssl.cnf would load.
            boolean begun = Crypto.OPENSSL_init_crypto(Crypto.INIT_NO_LOAD_CONFIG, null) == 1;
            return begun ? new Openssl(Crypto.OpenSSL_version(0)) : null;
        } catch (LinkageError e) {
            return null;
        }
    }

    /// Name, version and date, as the library reports them.
    public String version() {
        return version;
    }

    @Override
    public boolean holds(byte[] publicKey, byte[] text, byte[] signature) {
        Pointer key = Crypto.EVP_PKEY_new_raw_public_key(Crypto.ED25519, null, publicKey, publicKey.length);
        Pointer context = Crypto.EVP_MD_CTX_new();
        try {
            return key != null
                    && context != null
                    && Crypto.EVP_DigestVerifyInit(context, null, null, null, key) == 1
                    && Crypto.EVP_DigestVerify(context, signature, signature.length, text, text.length) == 1;
        } finally {
            // Both accept null.
            Crypto.EVP_MD_CTX_free(context);
            Crypto.EVP_PKEY_free(key);
        }
    }

    /// Functions and numbers as in openssl/evp.h, openssl/crypto.h and openssl/obj_mac.h; a `size_t` is a `long`.
    private static final class Crypto {
        static final int ED25519 = 1087;
        static final long INIT_NO_LOAD_CONFIG = 0x80;

        private Crypto() {}

        static native int OPENSSL_init_crypto(long options, @Nullable Pointer settings);

        static native String OpenSSL_version(int kind);

        static native @Nullable Pointer EVP_PKEY_new_raw_public_key(
                int type, @Nullable Pointer engine, byte[] key, long length);

        static native void EVP_PKEY_free(@Nullable Pointer key);

        static native @Nullable Pointer EVP_MD_CTX_new();

        static native void EVP_MD_CTX_free(@Nullable Pointer context);

        static native int EVP_DigestVerifyInit(
                Pointer context,
                @Nullable Pointer keyContext,
                @Nullable Pointer digest,
                @Nullable Pointer engine,
                Pointer key);

        static native int EVP_DigestVerify(
                Pointer context, byte[] signature, long signatureLength, byte[] text, long textLength);
    }
}
