#!/bin/busybox sh
# The first process of the guest in a trial of QEMU's record and replay. It uses each device a little, and says what it
# saw to the console and the events port: times, randomness and answers that no second run would repeat by chance.
bb=/bin/busybox
$bb mkdir -p /proc /sys /dev /tmp
$bb mount -t proc proc /proc
$bb mount -t sysfs sys /sys
$bb mount -t devtmpfs dev /dev
while read -r module; do
    $bb insmod "/modules/$module" || echo "blackbox: trial: no module $module"
done < /modules/order
port=/dev/$($bb ls /sys/class/virtio-ports | $bb head -n 1)
say() {
    echo "blackbox: trial: $*"
    echo "$*" > "$port"
}
$bb stty -F /dev/ttyS1 raw -echo
exec 3<> /dev/ttyS1
ask() {
    echo "$1" >&3
    read -r answer <&3
    say "asked $1, heard $answer"
}
round=1
while [ $round -le 16 ]; do
    say "round $round: $($bb date +%s) $($bb cat /proc/uptime) $($bb head -c 32 /dev/urandom | $bb sha256sum)"
    $bb dd if=/dev/urandom of=/dev/vda bs=64k count=1 seek=$round conv=fsync 2> /dev/null
    # Two writers, and more than the port takes at once.
    $bb head -c 98304 /dev/urandom | $bb base64 > "$port" &
    $bb head -c 98304 /dev/urandom | $bb sha256sum
    ask $round
    wait $!
    round=$((round + 1))
done
say "hwrng $($bb head -c 32 /dev/hwrng | $bb sha256sum)"
say "disk $($bb sha256sum < /dev/vda)"
$bb ip link set eth0 up
$bb udhcpc -i eth0 -n -q -t 5 -s /bin/true > /tmp/dhcp 2>&1
say "network $($bb tail -n 1 /tmp/dhcp) $($bb cat /sys/class/net/eth0/statistics/rx_bytes)"
say "interrupts $($bb sha256sum < /proc/interrupts)"
say done
$bb sync
echo o > /proc/sysrq-trigger
$bb sleep 60
