// Package judged has the tests in which others judge the simulated board: the
// Linux kernel, udev, picotool, OpenOCD and pyOCD, as their distribution ships
// them. They run in the virtual machine (internal/rig).
//
// The package has nothing to import, and must stay so.
package judged
