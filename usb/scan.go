package usb

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// maxAttribute bounds what is read of one file of sysfs or proc.
const maxAttribute = 1 << 20

// look reads one state of the machine.
type look struct {
	sys    System
	locks  []lock
	mounts map[string]string // by major:minor, nil until wanted
	// names are of accounts and groups, which may be far to ask.
	users, groups map[uint32]string
}

func newLook(sys System) *look {
	return &look{sys: sys, locks: readLocks(sys.Root), users: map[uint32]string{}, groups: map[uint32]string{}}
}

func (l *look) user(id uint32) string  { return named(l.users, l.sys.Users, id) }
func (l *look) group(id uint32) string { return named(l.groups, l.sys.Groups, id) }

// read returns a file's contents, "" if it cannot be read.
func read(root fs.FS, name string) string {
	f, err := root.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxAttribute))
	if err != nil {
		return ""
	}
	return string(b)
}

// attribute reads a file of sysfs without the newline that the kernel puts at
// its end.
func (l *look) attribute(dir, name string) string {
	return strings.TrimSuffix(read(l.sys.Root, path.Join("sys", dir, name)), "\n")
}

func (l *look) list(dir string) []fs.DirEntry {
	entries, err := fs.ReadDir(l.sys.Root, path.Join("sys", dir))
	if err != nil {
		return nil
	}
	return entries
}

func number(s string, base, bits int) (uint64, bool) {
	n, err := strconv.ParseUint(strings.TrimSpace(s), base, bits)
	return n, err == nil
}

// device reads the device in a folder below /sys; false is one that is no board
// or probe, or that has gone.
func (l *look) device(dir string) (d Device, ok bool) {
	d.Syspath, d.Port = dir, path.Base(dir)
	vendor, ok1 := number(l.attribute(dir, "idVendor"), 16, 16)
	product, ok2 := number(l.attribute(dir, "idProduct"), 16, 16)
	bus, ok3 := number(l.attribute(dir, "busnum"), 10, 16)
	num, ok4 := number(l.attribute(dir, "devnum"), 10, 16)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return d, false
	}
	d.Vendor, d.Product, d.Bus, d.Num = uint16(vendor), uint16(product), int(bus), int(num)
	// A device without a configuration yet has no interfaces.
	config, _ := number(l.attribute(dir, "bConfigurationValue"), 10, 8)
	version, interfaces, err := parseDescriptors([]byte(read(l.sys.Root, path.Join("sys", dir, "descriptors"))), uint8(config))
	if err != nil {
		return d, false
	}
	d.USB, d.Interfaces = version, interfaces
	d.Name = l.attribute(dir, "product")
	for i := range d.Interfaces {
		in := l.interfaceDir(&d, d.Interfaces[i].Number, int(config))
		d.Interfaces[i].Name = l.attribute(in, "interface")
		d.Interfaces[i].Driver = uevent(l.attribute(in, "uevent"), "DRIVER")
	}
	if !d.classify() {
		return d, false
	}
	release, _ := number(l.attribute(dir, "bcdDevice"), 16, 16)
	d.Release = uint16(release)
	d.Manufacturer = l.attribute(dir, "manufacturer")
	d.Serial = l.attribute(dir, "serial")
	d.Node = l.node(fmt.Sprintf("dev/bus/usb/%03d/%03d", d.Bus, d.Num))
	for _, i := range d.Interfaces {
		l.children(&d, i, l.interfaceDir(&d, i.Number, int(config)))
	}
	d.Holder = l.holder(d.Node)
	return d, true
}

// interfaceDir is the folder of an interface: "…/3-1.2/3-1.2:1.0".
func (l *look) interfaceDir(d *Device, iface, config int) string {
	return path.Join(d.Syspath, fmt.Sprintf("%s:%d.%d", d.Port, config, iface))
}

// uevent returns a value of a file of KEY=VALUE lines.
func uevent(text, key string) string {
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), key+"="); ok {
			return v
		}
	}
	return ""
}

// children finds what kernel drivers made of an interface.
func (l *look) children(d *Device, i Interface, dir string) {
	for _, e := range l.list(dir) {
		name := e.Name()
		switch {
		case name == "tty":
			for _, t := range l.list(path.Join(dir, name)) {
				n := l.node("dev/" + t.Name())
				d.TTYs = append(d.TTYs, TTY{Node: n.Path, Interface: i.Number, Access: n})
			}
		case strings.HasPrefix(name, "host"):
			l.drive(d, path.Join(dir, name))
		case strings.Count(name, ":") == 2: // a HID device: "0003:2E8A:000C.0001"
			for _, h := range l.list(path.Join(dir, name, "hidraw")) {
				d.HIDRaw = append(d.HIDRaw, "/dev/"+h.Name())
			}
		}
	}
}

// drive finds the block device below a SCSI host: host6/target6:0:0/6:0:0:0/block/sda/sda1.
func (l *look) drive(d *Device, host string) {
	for _, t := range l.list(host) {
		if !strings.HasPrefix(t.Name(), "target") {
			continue
		}
		for _, lun := range l.list(path.Join(host, t.Name())) {
			blocks := path.Join(host, t.Name(), lun.Name(), "block")
			for _, b := range l.list(blocks) {
				if d.Drive == nil {
					d.Drive = l.disk(b.Name(), path.Join(blocks, b.Name()))
				}
			}
		}
	}
}

func (l *look) disk(name, dir string) *Drive {
	drive := &Drive{Disk: "/dev/" + name}
	numbers := []string{l.attribute(dir, "dev")}
	for _, p := range l.list(dir) {
		if strings.HasPrefix(p.Name(), name) && l.attribute(dir, p.Name()+"/partition") != "" && drive.Partition == "" {
			drive.Partition = "/dev/" + p.Name()
			numbers = append(numbers, l.attribute(dir, p.Name()+"/dev"))
		}
	}
	if l.mounts == nil {
		l.mounts = parseMounts(read(l.sys.Root, "proc/self/mountinfo"))
	}
	for _, n := range slices.Backward(numbers) {
		if m := l.mounts[n]; m != "" && drive.Mount == "" {
			drive.Mount = m
		}
	}
	return drive
}

// parseMounts reads /proc/self/mountinfo (Linux, Documentation/filesystems/proc.rst,
// 3.5) into mount points by major:minor; the first one counts.
func parseMounts(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 5 || out[f[2]] != "" {
			continue
		}
		out[f[2]] = unescapeOctal(f[4])
	}
	return out
}

// unescapeOctal undoes the kernel's escapes of spaces and the like: "\040".
func unescapeOctal(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// node says who may open a device node, without opening it.
func (l *look) node(name string) Node {
	n := Node{Path: "/" + name}
	st, err := fs.Stat(l.sys.Root, name)
	if err != nil {
		n.Missing = true
		return n
	}
	n.Perm = uint32(st.Mode().Perm())
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		n.Owner, n.Group = l.user(s.Uid), l.group(s.Gid)
		n.dev, n.ino = s.Dev, s.Ino
	}
	n.Access = l.sys.Access != nil && l.sys.Access(name)
	return n
}

func named(known map[uint32]string, names func(uint32) string, id uint32) string {
	if s, ok := known[id]; ok {
		return s
	}
	s := ""
	if names != nil {
		s = names(id)
	}
	if s == "" {
		s = strconv.FormatUint(uint64(id), 10)
	}
	known[id] = s
	return s
}
