"""One flow of datagrams with pauses in it, and one whose socket is replaced by a new one with the same port."""

import socket
import time

receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("127.0.0.1", 7001))


def sender(port):
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind(("127.0.0.1", port))
    return made


with sender(7002) as kept:
    for length in (10, 20, 30):
        kept.sendto(b"a" * length, ("127.0.0.1", 7001))
        time.sleep(12)
for length in (40, 50):
    with sender(7003) as fresh:
        fresh.sendto(b"b" * length, ("127.0.0.1", 7001))
