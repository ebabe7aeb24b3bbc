"""Makes databases for DatabaseMatchTest, and says what others hold.

databases.py make FOLDER       one file for each kind of difference
databases.py random FOLDER N   N pairs of the same content, made in another order
databases.py dump FOLDER       for each file, what SQLite reads from it: a digest of all, or "damaged"
"""
import hashlib
import os
import random
import sqlite3
import sys


def connect(folder, name, *pragmas):
    path = os.path.join(folder, name + ".db")
    if os.path.exists(path):
        os.remove(path)
    db = sqlite3.connect(path, isolation_level=None)
    for pragma in pragmas:
        db.execute("pragma " + pragma)
    db.execute("pragma synchronous=off")
    return db


def rows(count=60):
    chance = random.Random(5)
    return [(n, chance.choice("abcd") * chance.choice([3, 40, 900, 5000]), n * 7, chance.random()) for n in range(1, count + 1)]


SCHEMA = [
    "create table t(id integer primary key, word text, number integer, part real)",
    "create index words on t(word, number)",
    "create table pairs(a text, b integer, primary key(a, b)) without rowid",
    "create view some as select word from t",
]


def fill(db, all_rows, order=None, schema=SCHEMA):
    for sql in schema:
        db.execute(sql)
    shuffled = list(all_rows)
    if order is not None:
        random.Random(order).shuffle(shuffled)
    for row in shuffled:
        db.execute("insert into t values(?,?,?,?)", row)
        db.execute("insert into pairs values(?,?)", (row[1][:9], row[0]))


def make(folder):
    base = rows()
    fill(connect(folder, "base"), base)
    fill(connect(folder, "shuffled"), base, 3)
    db = connect(folder, "emptied")
    fill(db, base + [(n, "x" * 3000, n, 0.5) for n in range(900, 930)])
    db.execute("delete from t where id>=900")
    db.execute("delete from pairs where b>=900")
    db = connect(folder, "octet")
    fill(db, base)
    db.execute("update t set word = word || 'x' where id=17")
    db.execute("update t set word = substr(word, 1, length(word) - 2) || 'z' where id=17")
    fill(connect(folder, "extra"), base + [(61, "more", 1, 0.5)], 4)
    fill(connect(folder, "missing"), base[:-1])
    fill(connect(folder, "rowid"), base[:-1] + [(70,) + base[-1][1:]])
    fill(connect(folder, "schema"), base, schema=[s.replace("view some", "view any") for s in SCHEMA])
    fill(connect(folder, "unindexed"), base, schema=[s for s in SCHEMA if "index" not in s])
    fill(connect(folder, "user", "user_version=7"), base)
    fill(connect(folder, "application", "application_id=7"), base)
    fill(connect(folder, "page", "page_size=1024"), base)
    fill(connect(folder, "utf16", "encoding='UTF-16le'"), base)
    fill(connect(folder, "vacuum", "auto_vacuum=full"), base)
    fill(connect(folder, "vacuumshuffled", "auto_vacuum=full"), base, 9)
    for name, when, pid in ("then", 1795611318, 4711), ("later", 1795611321, 4915), ("wrong", 1795611400, 4711):
        db = connect(folder, name)
        db.execute("create table log(id integer primary key, at integer, clock real, text text, pid integer)")
        db.execute("insert into log values(1,?,?,?,?)", (when, when + 0.25, "began %d by %d" % (when, pid), pid))


def some(folder, count):
    for n in range(count):
        chance = random.Random(n)
        pragmas = [
            "page_size=%d" % chance.choice([512, 1024, 4096, 65536]),
            "encoding='%s'" % chance.choice(["UTF-8", "UTF-16be"]),
            "auto_vacuum=%d" % chance.choice([0, 0, 1, 2]),
        ]
        base = rows(chance.choice([1, 30, 60, 120, 200]))
        for side in "ab":
            db = connect(folder, "%03d%s" % (n, side), *pragmas)
            fill(db, base, chance.random())
            for row in chance.sample(base, len(base) // 3):
                db.execute("update t set word='' where id=?", row[:1])
                db.execute("update t set word=? where id=?", (row[1], row[0]))
            db.execute("update t set number=number")


def dump(folder):
    for name in sorted(os.listdir(folder)):
        try:
            db = sqlite3.connect("file:%s?mode=ro" % os.path.join(folder, name), uri=True)
            db.text_factory = bytes
            whole = hashlib.sha256()
            for pragma in "page_size", "encoding", "user_version", "application_id", "schema_version", "auto_vacuum":
                whole.update(repr(db.execute("pragma " + pragma).fetchall()).encode())
            tables = db.execute("select rowid, type, name, tbl_name, sql from sqlite_schema order by rowid").fetchall()
            whole.update(repr(tables).encode())
            for table in tables:
                if table[1] == b"table":
                    keys = "rowid, " if b"without" not in table[4] else ""
                    whole.update(repr(db.execute("select %s* from %s" % (keys, table[2].decode())).fetchall()).encode())
            whole.update(repr(db.execute("select word, number from t indexed by words order by word, number").fetchall()).encode())
            fine = db.execute("pragma integrity_check").fetchall() == [(b"ok",)]
            print(name, whole.hexdigest(), "fine" if fine else "inconsistent")
            db.close()
        except Exception:
            print(name, "damaged", "damaged")


if sys.argv[1] == "make":
    make(sys.argv[2])
elif sys.argv[1] == "random":
    some(sys.argv[2], int(sys.argv[3]))
else:
    dump(sys.argv[2])
