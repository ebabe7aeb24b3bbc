"""Executes with arguments of every awkward size and content."""

import os
import subprocess

for size in (1, 4095, 4096, 65536, 131071):
    subprocess.run(["/bin/true", "size", "A" * size], check=True)
try:
    subprocess.run(["/bin/true", "size", "A" * 131072], check=True)
except OSError as error:
    print(error)
subprocess.run(["/bin/true", "many"] + ["argument %d" % i for i in range(2000)], check=True)
subprocess.run([b"/bin/true", b"odd", b"\xff\xfe\xc3(", b"line\nline\n", b"", b"tab\tquote\"'", b""], check=True)
subprocess.run(["/bin/true", "secret"], env={"TOKEN": "s3cr3t-value", "EMPTY": ""}, check=True)
os.system("exit 3")
