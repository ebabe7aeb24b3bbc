"""Processes of many threads, all of which end at the same moment; prints their numbers."""

import os
import threading
import time

for _ in range(60):
    child = os.fork()
    if child == 0:
        for _ in range(12):
            threading.Thread(target=time.sleep, args=(60,)).start()
        os._exit(0)
    os.waitpid(child, 0)
    print(child)
