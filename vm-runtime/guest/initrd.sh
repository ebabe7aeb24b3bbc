#!/bin/busybox sh
# The first process of the guest, from the initrd: loads our few modules, puts the writable overlay (vdb) over the
# read-only image (vda), copies our own files to /run/blackbox and hands over to init.py. What runs and watches the agent
# has the image itself as its root, so that nobody can change what it executes; the overlay, which becomes the agent's root
# (agent.py), is at /mnt.
bb=/bin/busybox
fail() {
    echo "blackbox: initrd: $*"
    # With panic=-1 and QEMU's -no-reboot the end of process 1 ends the VM: nothing waits for a shell that nobody sees.
    exit 1
}
$bb mkdir -p /proc /sys /dev /lower /state
$bb mount -t proc proc /proc && $bb mount -t sysfs sys /sys && $bb mount -t devtmpfs dev /dev || fail "mounts"
while read -r module; do
    $bb insmod "/modules/$module" || fail "module $module"
done < /modules/order
if $bb grep -q -w blackbox.probe /proc/cmdline; then
    echo "blackbox: probe: booted"
    $bb sync
    echo o > /proc/sysrq-trigger
    $bb sleep 60
fi
$bb mount -t erofs -o ro /dev/vda /lower || fail "root image"
compiler=$($bb sed -n 's/.* blackbox\.compile=\([^ ]*\).*/\1/p' /proc/cmdline)
if [ -z "$compiler" ]; then
    $bb mount -t ext4 -o noatime /dev/vdb /state || fail "state disk"
    $bb mkdir -p /state/upper /state/work
    $bb mount -t overlay -o lowerdir=/lower,upperdir=/state/upper,workdir=/state/work overlay /lower/mnt || fail "overlay"
fi
$bb mount -t tmpfs -o mode=755,nosuid,nodev run /lower/run || fail "run"
$bb cp -r /blackbox /lower/run/blackbox || fail "guest files"
for m in dev proc sys; do
    $bb mount --move /$m /lower/$m || fail "move $m"
done
if [ -n "$compiler" ]; then
    # For the host, which takes the result from the second disk; see GuestCompiler.
    $bb chroot /lower /usr/bin/python3 -I -u "/run/blackbox/$compiler" /dev/vdb
    echo o > /lower/proc/sysrq-trigger
    $bb sleep 60
    exit 1
fi
exec $bb switch_root /lower /usr/bin/python3 -I -S -u /run/blackbox/init/init.py
