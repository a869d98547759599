// Package rig is what tests in the virtual machine play with: boards that its
// kernel takes for real ones.
//
// A test that a Linux kernel, udev, podman or somebody else's program has to
// judge lies in a file with the build tag rig and is called TestRig…. `make
// test-rig` builds it with cgo, boots a small Debian in QEMU, and runs it there
// as root, in the package's own folder (read-only). docs/rig.md says what there
// is in the machine.
//
//	//go:build rig
//
//	func TestRigPicotool(t *testing.T) {
//		b := rig.NewBoard(t, rig.Board{Serial: "E6632C85931E832A"})
//		d := b.Plug(1)                        // in BOOTSEL mode: the flash is empty
//		out := rig.Run(t, "picotool", "info", "-a", "--ser", b.Serial)
//		rig.Run(t, "picotool", "load", "-x", "hello.uf2")
//		d = b.WaitProgram()                   // the program's own device, same port
//		b.Unplug()
//	}
//
// Boards are simulated on the host, in the runner; here are their handles. A
// board is plugged into a port, 1 to 15 and further controllers up to 120: port
// n of the first is the device 1-n, whatever the board becomes there (BOOTSEL
// mode, a program's own device). Plugging it in is power-up, unplugging is
// power-off. Its Debug Probe has a plug of its own. At the end of the test, or
// of its process, boards are unplugged.
//
// After each suite the runner asks the kernel: a WARN, a BUG, an oops, a hung
// task, a port that stays taken or a module that cannot be unloaded fail it.
//
// Times are long here: a command takes ten times what it takes on the host. No
// test may assert a time; Wait is what to use. The package must never be
// imported by what is shipped.
package rig
