"""Fetches what its arguments name, one after the other, and prints for each how many octets came in how many seconds.
Names are not checked where no variable names whom to trust."""
import os
import ssl
import sys
import time
import urllib.request

CONTEXT = ssl.create_default_context()
if "SSL_CERT_FILE" not in os.environ:
    CONTEXT = ssl._create_unverified_context()

for url in sys.argv[1:]:
    start = time.monotonic()
    octets = 0
    with urllib.request.urlopen(url, context=CONTEXT) as answer:
        while piece := answer.read(1 << 16):
            octets += len(piece)
    print(octets, time.monotonic() - start)
