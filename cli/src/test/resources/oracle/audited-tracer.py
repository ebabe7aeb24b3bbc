"""In the tracer's place: starts the auditor, then executes the tracer, which is in a folder of its own."""

import os
import sys

HERE = "/run/blackbox"

if "--resume" not in sys.argv and os.fork() == 0:
    none = os.open("/dev/null", os.O_RDWR)
    for standard in (0, 1):
        os.dup2(none, standard)
    os.closerange(3, 1024)
    os.execv(sys.executable, ["python3", "-I", "-u", f"{HERE}/audit/auditor.py"])
os.chdir(f"{HERE}/traced")
os.execv(sys.executable, ["python3", "-I", "-u", f"{HERE}/traced/tracer.py", *sys.argv[1:]])
