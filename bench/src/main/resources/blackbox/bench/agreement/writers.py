"""Four processes write to one SQLite database side by side. Each row has its place by its key: the order in which they
come is not in the result."""

import sqlite3
import subprocess
import sys

ROWS = 25


def write(number):
    connection = sqlite3.connect("rows.db", timeout=60)
    for i in range(ROWS):
        with connection:
            connection.execute("INSERT INTO rows VALUES (?, ?)", (number * 1000 + i, f"row {i}"))


def main():
    connection = sqlite3.connect("rows.db")
    connection.execute("CREATE TABLE rows (key INTEGER PRIMARY KEY, text TEXT)")
    connection.commit()
    writers = [subprocess.Popen([sys.executable, __file__, str(number)]) for number in range(4)]
    print([writer.wait() for writer in writers])
    print(connection.execute("SELECT count(*), sum(key) FROM rows").fetchone())


write(int(sys.argv[1])) if len(sys.argv) > 1 else main()
