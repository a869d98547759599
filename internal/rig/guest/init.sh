#!/bin/sh
# Process 1 of the virtual machine: what systemd would have prepared, udev, the
# kernel's modules, and then the agent, whose end is the machine's. With the
# argument systemd it is the service of the flavour in which systemd is process 1.
export PATH=/io/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8

users='tester:1000 outsider:1001'

programs() {
	# Each start of a program from the host's folder reads it over 9p again.
	mkdir -p /run/rig-bin
	cp /io/bin/* /run/rig-bin/
	mount --bind /run/rig-bin /io/bin
}

stores() {
	# podman's layers cannot lie on the overlay that is the root.
	mkdir -p /var/lib/containers
	mount -t tmpfs -o size=45% containers /var/lib/containers
	for u in $users; do
		name=${u%:*} id=${u#*:}
		mount -t tmpfs -o "size=30%,mode=700,uid=$id,gid=$id" home "/home/$name"
	done
}

network() {
	ip link set lo up
	# Containers of ordinary users want a way out, wherever it leads.
	ip link add rig0 type dummy && ip addr add 192.0.2.2/24 dev rig0 &&
		ip link set rig0 up && ip route add default via 192.0.2.1
}

later() {
	for d in dev proc sys tmp io src; do
		[ -d "/later/$d" ] && mount --rbind "/$d" "/later/$d"
	done
}

if [ "${1:-}" = systemd ]; then
	# Here podman has whom to ask.
	rm -f /etc/containers/containers.conf
	programs
	stores
	network
	modprobe -a vhci_hcd cdc_acm usb_storage sd_mod usbhid usbmon
	udevadm settle
	later
	/io/agent
	sync
	systemctl poweroff -f
	exit
fi

mount -t tmpfs -o mode=755,nosuid,nodev run /run
mkdir -p /run/lock /run/udev /run/user
mount -t tmpfs -o mode=1777,nosuid,nodev tmp /tmp
mkdir -p /dev/pts /dev/shm
mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /dev/pts
mount -t tmpfs -o mode=1777,nosuid,nodev shm /dev/shm
mount -t cgroup2 -o nsdelegate cgroup2 /sys/fs/cgroup
mount -t debugfs debugfs /sys/kernel/debug
mount --make-rshared /
programs
stores
for u in $users; do
	name=${u%:*} id=${u#*:}
	mkdir -p "/run/user/$id" "/sys/fs/cgroup/$name"
	chown "$id:$id" "/run/user/$id" "/sys/fs/cgroup/$name" "/sys/fs/cgroup/$name/cgroup.procs" \
		"/sys/fs/cgroup/$name/cgroup.subtree_control"
	chmod 700 "/run/user/$id"
done
network
echo rig >/proc/sys/kernel/hostname
/usr/lib/systemd/systemd-udevd --daemon 2>/dev/null
modprobe -a vhci_hcd cdc_acm usb_storage sd_mod usbhid usbmon
udevadm settle
later
/io/agent
sync
busybox poweroff -f
