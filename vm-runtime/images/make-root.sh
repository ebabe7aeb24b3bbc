#!/bin/sh
# Installs packages into a root file system and writes it to root.erofs, beside it the busybox that the initrd takes.
# RootBuilder runs this on the host, in namespaces of its own (BuildNamespace): without a network, and as a root that may
# be nobody outside. What is mounted goes with the processes, even when they are killed.
#
# usage: make-root.sh SCRATCH EPOCH VOLUME-ID KERNEL-RELEASE MMDEBSTRAP-OPTION…
# SCRATCH has `repository`, the packages as a flat apt repository, and `headers`, the kernel's headers unpacked; where the
# definition adds something, that is in `added`, and `commands` has the names of the commands of npm packages in it.
set -eu
scratch=$1 epoch=$2 volume=$3 release=$4
shift 4
# Whoever builds has a umask, a home, a locale and a path of their own; nothing of that may be seen in the bytes.
umask 022
export HOME=/root LC_ALL=C.UTF-8 SOURCE_DATE_EPOCH="$epoch" TMPDIR=/mnt
chmod 755 "$scratch"
mount --bind "$scratch" /mnt
cd /mnt
# In here, because nobody outside may delete what belongs to the guest's users.
trap 'rm -rf /mnt/root' EXIT

# The first of the names in a file that a command of the root has. No link is followed: in here, it would lead into the
# host's own files.
taken() {
    find usr/bin usr/sbin -mindepth 1 -maxdepth 1 -printf '%f\n' | grep -Fxf "$1" | sort | head -n 1
}

suite=$(sed -n 's/^Suite: //p' repository/Release)
mmdebstrap --mode=root --variant=essential --quiet "$@" "$suite" root 'deb [trusted=yes] copy:/mnt/repository ./'

cd root
# Java's store of certificates has the time at which each was put there.
[ ! -f etc/ssl/certs/java/cacerts ] || chroot . python3 - "$epoch" <<'PYTHON'
import hashlib, struct, sys

path = "/etc/ssl/certs/java/cacerts"
with open(path, "rb") as file:
    store = bytearray(file.read())


def behind(length, at):
    return at + struct.calcsize(length) + struct.unpack_from(length, store, at)[0]


magic, version, count = struct.unpack_from(">III", store)
if (magic, version) != (0xFEEDFEED, 2):
    sys.exit(path + " is not in the format JKS, version 2; an image with it would be another one each time")
at = 12
for _ in range(count):
    at = behind(">H", at + 4)
    struct.pack_into(">Q", store, at, int(sys.argv[1]) * 1000)
    at = behind(">I", behind(">H", at + 8))
store[at:] = hashlib.sha1("changeit".encode("utf-16-be") + b"Mighty Aphrodite" + store[:at]).digest()
with open(path, "wb") as file:
    file.write(store)
PYTHON
# What differs from build to build goes. A user's root cannot make device nodes: the guest's kernel makes its own.
for folder in dev var/log var/cache var/lib/apt/lists tmp run; do
    find "$folder" -mindepth 1 -delete
done
rm -f etc/machine-id etc/apt/sources.list etc/resolv.conf var/lib/dpkg/lock var/lib/dpkg/lock-frontend
rm -f etc/*- var/lib/dpkg/*-old
mkdir -p var/cache/apt/archives/partial var/lib/apt/lists/partial var/log/apt

echo blackbox >etc/hostname
printf '127.0.0.1 localhost blackbox\n::1 localhost\n' >etc/hosts
echo 'nameserver 10.0.2.3' >etc/resolv.conf

# The agent's account; useradd would need the machine's time and a shell.
echo 'agent:x:1000:1000::/home/agent:/bin/bash' >>etc/passwd
echo 'agent:x:1000:' >>etc/group
echo 'agent:!:1:0:99999:7:::' >>etc/shadow
echo 'agent:!::' >>etc/gshadow
mkdir -p home/agent workspace
find etc/skel -mindepth 1 -maxdepth 1 -type f -exec cp -t home/agent {} +

# Unpacked by the root's own tar, inside: what is a link in there leads elsewhere outside.
if [ -d ../added ]; then
    taken=$(taken ../commands)
    [ -z "$taken" ] || {
        echo "an npm package's command has the name of the image's own $taken; leave one of them out" >&2
        exit 1
    }
    find ../added -type d -exec chmod 755 {} +
    tar -cf ../added.tar --sort=name --owner=0 --group=0 --numeric-owner -C ../added .
    chroot . tar -xpf - --no-overwrite-dir --keep-directory-symlink <../added.tar
    rm ../added.tar
fi
chown -R 1000:1000 home/agent workspace

# The tracer's compiler needs the kernel's include folders and nothing else of its headers.
mkdir -p "usr/lib/modules/$release"
for headers in ../headers/usr/src/linux-headers-*; do
    name=${headers##*/}
    mkdir -p "usr/src/$name/arch/x86"
    for folder in include arch/x86/include; do
        [ ! -d "$headers/$folder" ] || cp -dR --preserve=mode "$headers/$folder" "usr/src/$name/$folder"
    done
    case $name in
        *-common) link=source ;;
        *) link=build ;;
    esac
    ln -s "/usr/src/$name" "usr/lib/modules/$release/$link"
done
cd ..

cp root/usr/bin/busybox busybox
mkfs.erofs -d0 -x-1 "-T$epoch" "-U$volume" root.erofs root
