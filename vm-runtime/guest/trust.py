"""Whom the agent's programs trust besides those whom its image trusts: the authority of the egress gateway."""

import binascii
import hashlib
import os
import struct

# Where Debian's programs look; update-ca-certificates keeps LOCAL_CA, and makes these links to it.
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
LOCAL_CA = "/usr/local/share/ca-certificates/blackbox-egress.crt"
# By this name Debian's Java takes it in when it is installed later.
NAMED_CA = "/etc/ssl/certs/blackbox-egress.pem"
# What OpenSSL looks for in that folder: the hash of the name that every run's authority has.
HASHED_CA = "/etc/ssl/certs/40a2b64f.0"
# Programs that bring authorities of their own take the file that one of these names; in all of them it stands for all.
BUNDLE_NAMES = (
    "AWS_CA_BUNDLE",
    "CARGO_HTTP_CAINFO",
    "CODEX_CA_CERTIFICATE",
    "CURL_CA_BUNDLE",
    "DENO_CERT",
    "GIT_SSL_CAINFO",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_FILE",
    "npm_config_cafile",
)

# What Debian's Java was made from its certificates when it was installed, in the JDK's format JKS (JavaKeyStore.java):
# magic and version, the number of entries, the entries, and a digest over the password, a phrase and all of these.
JAVA_STORE = "/etc/ssl/certs/java/cacerts"
JKS = struct.pack(">II", 0xFEEDFEED, 2)
JKS_TRUSTED = 2
JKS_SEALED = "changeit".encode("utf-16-be") + b"Mighty Aphrodite"
SHA1_BYTES = 20
# The name that update-ca-certificates gives it there, so that it is replaced and not doubled.
JAVA_ALIAS = "debian:blackbox-egress.pem"


def trust(certificate):
    """Has programs below the root of this process trust an authority, in PEM."""
    for path in (BUNDLE, LOCAL_CA):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a", encoding="ascii") as file:
            file.write("\n" + certificate)
    for path, target in ((NAMED_CA, LOCAL_CA), (HASHED_CA, os.path.basename(NAMED_CA))):
        if not os.path.lexists(path):
            os.symlink(target, path)
    _trust_in_java(certificate)


def _trust_in_java(certificate):
    try:
        file = open(JAVA_STORE, "r+b")
    except FileNotFoundError:
        return
    with file:
        store = file.read()
        if store[: len(JKS)] != JKS:
            return  # not Debian's: whoever put it there keeps it
        entries, begin = struct.unpack_from(">I", store, len(JKS))[0], len(JKS) + 4
        octets = binascii.a2b_base64("".join(line for line in certificate.splitlines() if not line.startswith("-----")))
        # Without a time of its own, for a replay's is to be the same.
        entry = struct.pack(">I", JKS_TRUSTED) + _text(JAVA_ALIAS) + struct.pack(">Q", 0)
        entry += _text("X.509") + struct.pack(">I", len(octets)) + octets
        store = JKS + struct.pack(">I", entries + 1) + store[begin:-SHA1_BYTES] + entry
        file.seek(0)
        file.write(store + hashlib.sha1(JKS_SEALED + store).digest())


def _text(text):
    return struct.pack(">H", len(text)) + text.encode("ascii")
