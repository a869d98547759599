package gdbserver

import (
	"errors"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/target"
)

const (
	atReset  = "T02thread:1;core:0;1:01000000;2:02000000;8:08000000;20:00000010;"
	readRAM8 = "3031323334353637"
)

// TestAnswers asks one or more packets of a fresh session each, with the
// answer to each.
func TestAnswers(t *testing.T) {
	boom := errors.New("cable out")
	tests := []struct {
		name string
		fail map[string]error
		talk []string // packet, answer, packet, answer, ...
		// did are calls that the target has seen.
		did []string
	}{
		{name: "features", talk: []string{
			"qSupported:multiprocess+;swbreak+;hwbreak+", "PacketSize=3ff0;QStartNoAckMode+;swbreak+;hwbreak+;vContSupported+;…",
		}},
		{name: "unknown packets have an empty answer", talk: []string{
			"", "", "b", "", "vMustReplyEmpty", "", "qNonsense", "", "QNonsense:1", "", "vNonsense;1", "", "j", "", "vFile:chmod:1", "",
			"qXfer:auxv:read::0,10", "", "qXfer:features:write:target.xml:0:x", "", "qXfer:features", "", "qOffsets", "", "qTStatus", "",
		}},
		{name: "last stop", talk: []string{"?", atReset, "qAttached", "1", "qAttached:1", "1", "qC", "QC1", "!", "OK"}},
		{name: "threads", talk: []string{
			"qfThreadInfo", "m1,2", "qsThreadInfo", "l", "qThreadExtraInfo,2", "686172742031", "qThreadExtraInfo,x", "E01", "qThreadExtraInfo,9", "",
			"T1", "OK", "T2", "OK", "T3", "E01", "T", "E01", "Tzz", "E01", "Hg2", "OK", "Hgp1.2", "OK", "Hg0", "OK", "Hg-1", "OK", "Hc-1", "OK", "Hg3", "E01", "H", "E01", "Hgx", "E01",
			"qXfer:threads:read::0,1000", `l<?xml version="1.0"?><threads><thread id="1" core="0">hart 0</thread><thread id="2" core="1">hart 1</thread></threads>`,
		}},
		{name: "registers", talk: []string{
			"p1", "01000000", "p20", "00000010", "p341", "00180000", "Hg2", "OK", "p1", "01000100", "P1=78563412", "OK", "p1", "78563412", "Hg1", "OK", "p1", "01000000",
			"p999", "E01", "p", "E01", "pxx", "E01", "P1", "E01", "P1=", "E01", "P1=zz", "E01", "P999=00000000", "E01", "P1=112233445566778899", "E01",
			"g", "000000000100000002000000…",
		}},
		{name: "all registers", talk: []string{
			"G" + strings.Repeat("xxxxxxxx", 2) + "efbeadde", "OK", "p1", "01000000", "p2", "efbeadde", "p3", "03000000", "G" + "zz000000", "E01", "G", "OK", "G00", "OK",
		}},
		{name: "a register that cannot be read", fail: map[string]error{"register 2": boom}, talk: []string{
			"p2", "xxxxxxxx", "g", "0000000001000000xxxxxxxx03000000…", "?", "T02thread:1;core:0;1:01000000;8:…",
		}},
		{name: "a register that cannot be written", fail: map[string]error{"set": boom}, talk: []string{
			"P1=00000000", "E.register not written: cable out", "G00000000", "E01", "c20000000", "E.cannot set pc: cable out",
		}},
		{name: "memory", talk: []string{
			"m20000000,8", readRAM8, "x20000000,4", "b0123", "M20000000,2:4142", "OK", "m20000000,4", "41423233",
			"X20000001,3:x#}", "OK", "m20000000,5", "4178237d34", "X20000000,0:", "OK",
			"m60000000,4", "E14", "x60000000,4", "E14", "m20001ffe,8", "0000", "m1fffffff,2", "E14", "mffffffff,4", "E14",
			"m", "E01", "m20000000", "E01", "m20000000,", "E01", "m,4", "E01", "mx,4", "E01", "m120000000,4", "E01", "m-1,4", "E01", "m0x10,4", "E01",
			"M20000000,2:41", "E01", "M20000000,1:4", "E01", "M20000000,1:zz", "E01", "M20000000", "E01", "X20000000,2:a", "E01", "X20000000", "E01", "X,1:a", "E01",
			"M60000000,1:00", "E.memory not written: …", "M10000000,1:00", "E.memory not written: …", "M0,1:00", "E.memory not written: …",
		}},
		{name: "memory that fails", fail: map[string]error{"read": boom, "write": boom}, talk: []string{
			"m20000000,4", "E14", "M20000000,1:00", "E.memory not written: cable out", "qCRC:20000000,4", "E01",
		}},
		{name: "protected ranges", talk: []string{
			"M40120000,4:00000000", "E.OTP is not written from a debugger: what is burnt there stays for ever",
			"X4013ffff,1:a", "E.OTP is …", "M4011fffc,8:0000000000000000", "E.OTP is …", "X40120000,0:", "OK",
			"M40140000,1:00", "E.memory not written: …", "m40120000,4", "00000000",
		}},
		{name: "checksums", talk: []string{
			"qCRC:20000000,10", "Cdbd233b1", "qCRC:20000000,0", "Cffffffff", "qCRC:20000000,ffffffff", "E01", "qCRC:x", "E01", "qCRC", "E01",
		}},
		{name: "points", talk: []string{
			"Z0,10000000,2", "OK", "Z0,10000000,2", "OK", "z0,10000000,2", "OK", "z0,10000000,2", "OK", "Z1,10000010,4", "OK", "Z2,20000000,4", "OK", "Z3,20000000,4", "OK", "Z4,20000000,4", "OK",
			"Z5,0,4", "E01", "Z", "E01", "Z0", "E01", "Z0,10", "E01", "Z0,x,2", "E01", "z9,0,0", "E01", "Z0,10000000,2;X1,22", "OK",
		}, did: []string{"point 0 0x10000000", "clear 0 0x10000000", "point 1 0x10000010", "point 2 0x20000000", "point 3 0x20000000", "point 4 0x20000000", "point 0 0x10000000"}},
		{name: "points that fail", fail: map[string]error{"point": boom}, talk: []string{"Z1,0,2", "E.breakpoint not set: cable out", "z1,0,2", "OK"}},
		{name: "points that stay", fail: map[string]error{"clear": boom}, talk: []string{"Z1,0,2", "OK", "z1,0,2", "E.breakpoint not removed: cable out"}},
		{name: "kinds of resume", talk: []string{
			"vCont?", "vCont;c;C;s;S;r", "vCont", "E01", "vCont;", "E01", "vCont;x", "E01", "vCont;r1", "E01", "vCont;s:zz", "E01", "vCont;c:9", "E01", "sxx", "E01",
			"vCont;s:1;c", "T05thread:1;core:0;1:01000000;2:02000000;8:08000000;20:04000010;", "vCont;s:2", "T05thread:2;core:1;…", "vCont;S05:p1.1", "T05thread:1;…",
			"vCont;r10000000,10000010:1;c:-1", "T05thread:1;…", "s", "T05thread:1;…", "s20000000", "T05thread:1;…", "p20", "04000020", "S05;20000010", "T05thread:1;…", "p20", "14000020",
			"Hg2", "OK", "s", "T05thread:2;core:1…",
		}, did: []string{
			"resume [{0 1 0 0} {1 0 0 0}]", "resume [{1 1 0 0}]", "resume [{0 1 0 0}]", "resume [{0 2 268435456 268435472} {1 0 0 0}]",
			"resume [{0 1 0 0} {1 0 0 0}]", "set 0 32", "resume [{0 1 0 0} {1 0 0 0}]", "set 0 32", "resume [{0 1 0 0} {1 0 0 0}]", "resume [{0 0 0 0} {1 1 0 0}]",
		}},
		{name: "the thread of a stop is selected", talk: []string{
			"Hg1", "OK", "vCont;s:2", "T05thread:2;…", "p1", "01000100", "g", "0000010001000100…", "?", "T05thread:2;…", "Hg1", "OK", "?", "T05thread:2;…", "p1", "01000100",
		}},
		{name: "resume that fails", fail: map[string]error{"resume": boom}, talk: []string{"vCont;c", "E.cannot resume: cable out", "c", "E.cannot resume: cable out", "?", atReset}},
		{name: "attach and run", talk: []string{"vAttach;1", atReset, "vRun;", atReset}, did: []string{"halt", "reset 1"}},
		{name: "a reset that fails", fail: map[string]error{"reset": boom}, talk: []string{"vRun;", "E.cannot reset: cable out"}},
		{name: "documents in pieces", talk: []string{
			"qXfer:memory-map:read::0,14", `m<?xml version="1.0"?`, "qXfer:memory-map:read::14,5", "m><!DO", "qXfer:memory-map:read::ffff,10", "l", "qXfer:memory-map:read::x", "E01", "qXfer:memory-map:read:0,10", "",
			"qXfer:features:read:target.xml:0,21", `m<?xml version="1.0"?><!DOCTYPE ta`, "qXfer:features:read:other.xml:0,20", "E00", "qXfer:exec-file:read::0,20", "E00",
		}},
		{name: "files without a folder", talk: []string{
			"vFile:setfs:0", "F0", "vFile:open:" + hexOf("/etc/passwd") + ",0,0", "F-1,2", "vFile:open:" + hexOf("x"), "F-1,16", "vFile:open:zz,0,0", "F-1,16",
			"vFile:pread:3,10,0", "F-1,9", "vFile:pread:3", "F-1,16", "vFile:pwrite:3,0,a", "F-1,9", "vFile:pwrite:3", "F-1,16", "vFile:close:3", "F-1,9", "vFile:close:", "F-1,9", "vFile:fstat:3", "F-1,9", "vFile:unlink:" + hexOf("x"), "F-1,d", "vFile:", "",
		}},
		{name: "symbols are not wanted without an RTOS", talk: []string{"qSymbol::", "OK", "qSymbol:20000000:" + hexOf("x"), "OK", "qSymbol", "OK"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake()
			s := newSession(t, f)
			s.want("?", "T02…")
			f.mu.Lock()
			f.calls = nil
			for k, v := range tt.fail {
				f.fail[k] = v
			}
			f.mu.Unlock()
			for i := 0; i+1 < len(tt.talk); i += 2 {
				s.want(tt.talk[i], tt.talk[i+1])
			}
			if got := f.history(); tt.did != nil && strings.Join(got, "\n") != strings.Join(tt.did, "\n") {
				t.Errorf("the target saw\n%q\nwant\n%q", got, tt.did)
			}
		})
	}
}

// TestStops checks the stop reply, and what is printed before it, for every
// reason.
func TestStops(t *testing.T) {
	const regs = "1:01000000;2:02000000;8:08000000;20:00000010;"
	tests := []struct {
		name  string
		first string // packet before the continue
		stop  target.Stop
		print string
		want  string
	}{
		{"breakpoint", "Z0,10000000,2", target.Stop{Reason: target.StopBreakpoint, PC: fakeFlash}, "", "T05swbreak:;thread:1;core:0;" + regs},
		{"hardware breakpoint", "Z1,10000000,4", target.Stop{Reason: target.StopBreakpoint, PC: fakeFlash}, "", "T05hwbreak:;thread:1;core:0;" + regs},
		{"the program's own", "?", target.Stop{Reason: target.StopBreakpoint, PC: fakeFlash}, "", "T05thread:1;core:0;" + regs},
		{"watchpoint", "Z2,20000000,4", target.Stop{Core: 1, Reason: target.StopWatchpoint, Point: target.Point{Kind: target.PointWrite}, Addr: 0x20000002}, "", "T05watch:20000002;thread:2;core:1;…"},
		{"read watchpoint", "?", target.Stop{Reason: target.StopWatchpoint, Point: target.Point{Kind: target.PointRead}, Addr: 0x20000000}, "", "T05rwatch:20000000;thread:1;core:0;" + regs},
		{"access watchpoint", "?", target.Stop{Reason: target.StopWatchpoint, Point: target.Point{Kind: target.PointAccess}, Addr: 0x20000000}, "", "T05awatch:20000000;thread:1;core:0;" + regs},
		{"exit", "?", target.Stop{Reason: target.StopExit, Code: 3, How: "semihosting exit"}, "[the program ended: semihosting exit, status 3]\n", "W03"},
		{"exit without words", "?", target.Stop{Reason: target.StopExit, Code: 256}, "", "W00"},
		{"crash", "?", target.Stop{Reason: target.StopCrash, Crash: &target.Crash{Cause: "load access fault at 0x4"}}, "[core 0 crashed: load access fault at 0x4]\n", "T0bthread:1;core:0;" + regs},
		{"illegal instruction", "?", target.Stop{Core: 1, Reason: target.StopCrash, Crash: &target.Crash{Cause: "illegal instruction"}}, "[core 1 crashed: illegal instruction]\n", "T04thread:2;…"},
		{"crash without words", "?", target.Stop{Reason: target.StopCrash}, "[core 0 crashed]\n", "T0bthread:1;…"},
		{"asleep", "?", target.Stop{Reason: target.StopAsleep}, "[every core sleeps and nothing will wake one]\n", "T02thread:1;…"},
		{"cycles", "?", target.Stop{Reason: target.StopCycles}, "", "T02thread:1;…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake()
			s := newSession(t, f)
			s.ask("qSupported:swbreak+;hwbreak+")
			s.ask(tt.first)
			s.send("vCont;c")
			<-f.resumed
			f.stop(tt.stop)
			got := s.receive()
			if tt.print != "" {
				if got != "O"+hexOf(tt.print) {
					t.Errorf("printed %q, want %q", got, "O"+hexOf(tt.print))
				}
				got = s.receive()
			}
			if begin, open := strings.CutSuffix(tt.want, "…"); got != tt.want && !(open && strings.HasPrefix(got, begin)) {
				t.Errorf("stop reply %q, want %q", got, tt.want)
			}
			if tt.stop.Reason == target.StopExit {
				s.want("?", got)
				s.want("vCont;c", "W00")
				s.want("vRun;", "T02…")
			}
		})
	}
}
