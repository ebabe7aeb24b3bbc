# Changes some trees at random, and after each round writes everything to the disk, prints a tar of the trees and calls a
# program that the recording shows: the moment at which the disk is to equal the tar.
import base64, io, os, random, shutil, subprocess, sys, tarfile, time

dice = random.Random(int(sys.argv[1]))
ROOTS = ["/root/tree", "/etc/apt", "/usr/share/base-files"]


def paths(root):
    return [os.path.join(at, name) for at, folders, files in os.walk(root) for name in folders + files]


def folder(root):
    return dice.choice([root] + [path for path in paths(root) if os.path.isdir(path) and not os.path.islink(path)])


def fresh(root):
    return os.path.join(folder(root), dice.choice(["a", "b b", "new\nline", "\x1b[1m", "deep"]) + str(dice.randrange(30)))


def octets():
    return dice.randbytes(dice.choice([0, 1, 59, 60, 4096, dice.randrange(20_000), 300_000 if dice.random() < 0.1 else 7]))


def at_once(path, flags):
    return os.open(path, flags | os.O_NONBLOCK)  # fails on a pipe without a reader instead of blocking


def write(root, mode):
    files = [path for path in paths(root) if os.path.isfile(path)]
    with open(dice.choice(files) if files and dice.random() < 0.6 else fresh(root), mode, opener=at_once) as file:
        file.write(octets())


def again(root):
    path = folder(root)
    if path != root:
        shutil.rmtree(path)
        os.mkdir(path)
        with open(os.path.join(path, "again"), "wb") as file:
            file.write(octets())


CHANGES = [
    lambda root: write(root, "wb"),
    lambda root: write(root, "ab"),
    lambda root: os.truncate(dice.choice(paths(root)), dice.randrange(50_000)),
    lambda root: os.unlink(dice.choice(paths(root))),
    lambda root: os.rename(dice.choice(paths(root)), fresh(root)),
    lambda root: os.symlink(dice.choice(["x", "../y", "not/there", "long/" * 30]), fresh(root)),
    lambda root: os.link(dice.choice(paths(root)), fresh(root)),
    lambda root: os.chmod(dice.choice(paths(root)), dice.choice([0o600, 0o755, 0o4711, 0o1777])),
    lambda root: os.chown(dice.choice(paths(root)), dice.choice([0, 7, 70_000]), 1000),
    lambda root: os.mkdir(fresh(root)),
    lambda root: os.mkfifo(fresh(root)),
    again,
]


def archive():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for root in ROOTS:
            tar.add(root, arcname=root[1:])
    return base64.b64encode(out.getvalue()).decode()


os.mkdir(ROOTS[0])
for moment in range(int(sys.argv[2])):
    for _ in range(20):
        try:
            dice.choice(CHANGES)(dice.choice(ROOTS))
        except (OSError, IndexError):
            pass  # not everything can be done to everything
    os.sync()
    print(moment, archive(), flush=True)
    time.sleep(2)  # until the recorder has sealed what was written
    subprocess.run(["/bin/true", "moment", str(moment)])
