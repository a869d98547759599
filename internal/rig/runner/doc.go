//go:build linux

// Command runner runs the tests TestRig* of packages in the virtual machine.
//
//	go run ./internal/rig/runner [-run REGEXP] [-v] [PACKAGE...]
//
// It builds the test binaries with the tag rig and the program stem-hw, waits for
// its turn (one machine at a time on a host), boots, and runs the binaries one
// after the other over the agent in the guest; each is a suite. The boards that
// the tests ask for are simulated in this process. What it prints is the event
// stream of test2json, with one test more for every suite: Kernel fails if the
// kernel complained meanwhile, or kept something of a device that is gone.
//
// Tests called TestRigSystemd* run in a second boot, with systemd as process 1.
// The console of each boot is kept in build/rig. STEM_HW_RIG_KVM=1 lets QEMU use
// KVM; nothing else does.
//
// It must never decide what a test proves, and never leave a QEMU behind.
package main
