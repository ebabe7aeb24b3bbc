# Writes to the disk as an agent that builds and unpacks does: large files in pieces, many small ones, each round made
# durable. Prints the seconds that it took and the octets that it wrote.
import os, time

ROUNDS, LARGE, SMALL = 10, 8 << 20, 200
piece = os.urandom(1 << 16)
written = 0
begun = time.monotonic()
for number in range(ROUNDS):
    with open(f"/workspace/large-{number}", "wb") as file:
        for _ in range(LARGE // len(piece)):
            written += file.write(piece)
    os.mkdir(f"/workspace/small-{number}")
    for name in range(SMALL):
        with open(f"/workspace/small-{number}/{name}", "wb") as file:
            written += file.write(piece[:3000])
    os.sync()
print(time.monotonic() - begun, written)
