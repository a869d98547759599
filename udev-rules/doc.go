// Package udevrules makes the udev rules that let people open their boards and
// probes: 60-stem-hw.rules.
//
// udev (systemd-udevd) reads the files of its folders in the order of their
// names for every device that comes, and each rule is one line: matches (==) and
// assignments (=, +=), separated by commas. A rule that names a group that this
// machine has not is dropped whole, so group and uaccess stand on lines of their
// own. The tag uaccess, which gives a node to the person at the machine's seat,
// is acted upon in 73-seat-late.rules, so the file's number is smaller; people
// who come by ssh are let in by the group.
//
// The rules are made from the profiles, kept beside this file for packagers, and
// compared by a test. They start no programs.
//
// The package must never change the machine: the verb udev install does.
//
// Sources: udev(7); systemd: rules.d/60-serial.rules, 73-seat-late.rules.in;
// ModemManager: data/77-mm-*.rules (ID_MM_DEVICE_IGNORE, ID_MM_PORT_IGNORE).
package udevrules
