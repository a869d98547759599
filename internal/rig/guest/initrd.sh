#!/bin/busybox sh
# The first program of the virtual machine: mounts its disks, puts memory over
# the system's, and hands over to /io/init from the host.
b=/bin/busybox
$b mount -t devtmpfs dev /dev
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
for m in $($b cat /mod/order); do
	$b insmod "/mod/$m" || echo "rig: insmod $m failed"
done
init=/io/init
for a in $($b cat /proc/cmdline); do
	case $a in rig.init=*) init=${a#rig.init=} ;; esac
done
fail() {
	echo "rig: $1"
	$b poweroff -f
}
$b mount -t ext4 -o ro /dev/vda /lower || fail "the system cannot be mounted"
$b mount -t tmpfs -o mode=755,size=60% rw /rw
$b mkdir /rw/u /rw/w
$b mount -t overlay -o lowerdir=/lower,upperdir=/rw/u,workdir=/rw/w root /new || fail "the overlay cannot be mounted"
$b mount -t ext4 -o ro /dev/vdb /new/later || fail "the later system cannot be mounted"
p9=trans=virtio,version=9p2000.L,msize=524288
$b mount -t 9p -o $p9,cache=mmap io /new/io || fail "the host's folder cannot be mounted"
$b mount -t 9p -o $p9,cache=loose,ro src /new/src || fail "the clone cannot be mounted"
$b mount --move /dev /new/dev
$b mount --move /proc /new/proc
$b mount --move /sys /new/sys
exec $b switch_root /new "$init"
