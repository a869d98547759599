//go:build peers

package gdbserver_test

import "testing"

// TestPeerGdbArm drives a Cortex-M33: its registers with those of the FPU and
// the Security Extension, a call chain through an exception, both cores.
func TestPeerGdbArm(t *testing.T) {
	each(t, func(t *testing.T, g gdb) {
		for _, s := range armScenarios {
			t.Run(s.name, func(t *testing.T) {
				inOrder(t, serve(t, "testdata/arm/arm.elf").run(g, s.script), s.want...)
			})
		}
	})
}

// armScenarios are gdb sessions on a program for the Cortex-M33.
var armScenarios = []struct {
	name, script string
	want         []string
}{
	{
		"breakpoints, finish, floating point",
		"break scale\ncontinue\nbt\nfinish\nprint $s15\nset var $s3 = 2.5\nprint $s3\nprint $d1\nprint $fpscr\nstepi\nnext\nbt",
		[]string{"scale (x=3)", "#1", "in main ()", "Value returned is $1 = 2.5", "$2 = 2.5", "$3 = 2.5", "$4 = 8", "main ()"},
	},
	{
		"an exception and back",
		"break svc\ncontinue\nbt\nprint $xpsr & 0x1ff\nfinish\nprint calls",
		[]string{"svc ()", "<signal handler called>", "main ()", "$1 = 11", "main ()", "$2 = 1"},
	},
	{
		"both cores, stack pointers and masks",
		"break depth if n == 2\ncontinue\nbt\ninfo threads\nprint/x $sp == $msp_s\nprint $primask\nset var $primask = 1\nprint $primask\nthread 2\nprint $control",
		[]string{"depth (n=n@entry=2)", "n@entry=3", "n@entry=4", "main ()", "core 0", "core 1", "$1 = 0x1", "$2 = 0", "$3 = 1", "$4 = 0"},
	},
	{
		// gdb steps once more behind a hit, since it expects Arm cores to
		// stop before the access: the place is not looked at.
		"watchpoints",
		"watch calls\ncontinue\ndelete\nrwatch go\ncontinue\ndelete\nset var go = 1\nfinish",
		[]string{"ardware watchpoint 1: calls", "New value = 1", "ardware read watchpoint 2: go", "Value = 0", "spin ()", "main ()"},
	},
}
