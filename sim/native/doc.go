// Package native makes a target of a program of this computer, so that the same
// verbs work where neither a board nor a simulated one fits: it is started,
// spoken to through its console, and its end is understood. gdb debugs such a
// program by itself; nothing is traced here.
//
// Load checks that the file is a program for this computer. Start and Reset run
// it from its beginning, as a child that never outlives the target.
//
// The package must never run anything but the file it was made for, and no
// shell.
package native
