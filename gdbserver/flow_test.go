package gdbserver

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/target"
)

func hexOf(s string) string { return hex.EncodeToString([]byte(s)) }

func TestAcknowledgements(t *testing.T) {
	s := newSession(t, newFake())
	// A wrong checksum is sent again, and so is an answer that was damaged.
	s.raw("$?#00")
	if b, _ := s.r.ReadByte(); b != '-' {
		t.Errorf("a wrong checksum is answered by %q", b)
	}
	s.send("qC")
	first := s.receive()
	s.raw("-")
	if again := s.receive(); again != first {
		t.Errorf("%q sent again as %q", first, again)
	}
	s.want("QStartNoAckMode", "OK")
	s.noAck = true
	s.raw("-+") // means nothing any more
	s.raw("$?#00")
	s.want("qC", "QC1")
}

func TestNakBeforeAnything(t *testing.T) {
	s := newSession(t, newFake())
	s.raw("---")
	s.want("qC", "QC1")
}

func TestInterrupt(t *testing.T) {
	f := newFake()
	s := newSession(t, f)
	s.raw("\x03") // nothing runs
	s.want("qC", "QC1")
	for range 3 {
		s.send("vCont;c")
		<-f.resumed
		s.raw("\x03")
		if got := s.receive(); got != atReset {
			t.Fatalf("interrupt: %q", got)
		}
	}
	// A client that lost track asks for the stop.
	s.send("c")
	<-f.resumed
	s.want("?", atReset)
}

func TestWhileRunning(t *testing.T) {
	f := newFake()
	s := newSession(t, f)
	s.send("c")
	<-f.resumed
	s.want("p1", "xxxxxxxx")
	s.want("m20000000,2", "3031")
	s.raw("\x03")
	if got := s.receive(); got != atReset {
		t.Errorf("interrupt: %q", got)
	}
}

func TestResetUnderTheDebugger(t *testing.T) {
	f := newFake()
	s := newSession(t, f)
	s.send("c")
	<-f.resumed
	f.stop(target.Stop{Reason: target.StopReset})
	if got := s.receive(); got != "O"+hexOf("[the chip was reset by its program and boots again]\n") {
		t.Errorf("printed %q", got)
	}
	<-f.resumed
	f.stop(target.Stop{Reason: target.StopAsleep})
	s.receive()
	if got := s.receive(); got != atReset {
		t.Errorf("stop %q", got)
	}
}

func TestTargetFails(t *testing.T) {
	for call, want := range map[string]string{"halt": "cable out", "wait": "cable out"} {
		t.Run(call, func(t *testing.T) {
			f := newFake()
			f.fail[call] = errors.New("cable out")
			s := newSession(t, f)
			if call == "wait" {
				s.send("c")
				<-f.resumed
				f.stop(target.Stop{})
			}
			if _, err := s.r.ReadByte(); err == nil {
				t.Error("the connection stays open")
			}
			<-s.done
			if !strings.Contains(s.said(), want) {
				t.Errorf("said %q", s.said())
			}
		})
	}
}

func TestEnds(t *testing.T) {
	tests := []struct {
		name   string
		end    func(s *session)
		said   string
		called string // the last call
	}{
		{"detach", func(s *session) { s.want("D", "OK") }, "gdb detached, the program runs on", "resume [{0 0 0 0} {1 0 0 0}]"},
		{"kill", func(s *session) { s.send("k") }, "gdb left", "reset 1"},
		{"vKill", func(s *session) { s.want("vKill;1", "OK") }, "gdb left", "reset 1"},
		{"gone", func(s *session) {}, "gdb is gone without a word", "clear 0 0x10000000"},
		{"gone in mid-packet", func(s *session) { s.raw("$m2000") }, "gdb is gone without a word", "clear 0 0x10000000"},
		{"gone while running", func(s *session) { s.send("c"); <-s.fake.resumed }, "gdb is gone without a word", "clear 0 0x10000000"},
		{"endless packet", func(s *session) { s.raw("$" + strings.Repeat("a", maxPacket+1)) }, "packet longer than the announced PacketSize", "clear 0 0x10000000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSession(t, newFake())
			s.want("Z0,10000000,2", "OK")
			tt.end(s)
			s.leave()
			if !strings.Contains(s.said(), tt.said) {
				t.Errorf("said %q, want %q", s.said(), tt.said)
			}
			if h := s.fake.history(); h[len(h)-1] != tt.called {
				t.Errorf("last call %q of %q, want %q", h[len(h)-1], h, tt.called)
			}
			if len(s.fake.points) > 0 {
				t.Errorf("points stay: %v", s.fake.points)
			}
			if s.fake.running {
				if tt.name != "detach" {
					t.Error("the target runs")
				}
			} else if tt.name == "detach" {
				t.Error("the target does not run")
			}
		})
	}
}

// TestPacketsBehindTheEnd sends more than the server reads ahead behind a
// detach: it ends all the same.
func TestPacketsBehindTheEnd(t *testing.T) {
	s := newSession(t, newFake())
	s.want("QStartNoAckMode", "OK")
	go func() { _, _ = io.Copy(io.Discard, s.nc) }()
	_, _ = s.nc.Write([]byte("$D#44" + strings.Repeat("$?#3f", 100)))
	<-s.done
}

func TestExtendedKill(t *testing.T) {
	killed := 0
	s := newSession(t, newFake(), func(o *Options) { o.Killed = func() { killed++ } })
	s.want("!", "OK")
	s.send("k")
	s.want("vRun;", atReset)
	s.send("R00")
	s.want("?", atReset)
	if killed != 1 {
		t.Errorf("killed %d times", killed)
	}
}

func TestPointLimit(t *testing.T) {
	s := newSession(t, newFake())
	for i := range maxPoints {
		if got := s.ask(fmt.Sprintf("Z0,%x,2", 2*i)); got != "OK" {
			t.Fatalf("point %d: %q", i, got)
		}
	}
	s.want("Z0,ffff0000,2", "E.breakpoint not set: 4096 are set already")
	s.want("z0,0,2", "OK")
	s.want("Z0,ffff0000,2", "OK")
}

func TestFlash(t *testing.T) {
	f := newFake()
	s := newSession(t, f)
	for _, bad := range [][2]string{
		{"vFlashErase:x", "E01"},
		{"vFlashErase:20000000,1000", "E.no flash at 0x20000000"},
		{"vFlashErase:10000800,1000", "E.the range to erase is not made of whole sectors"},
		{"vFlashErase:10000000,800", "E.the range to erase is not made of whole sectors"},
		{"vFlashErase:10000000,0", "E.the range to erase is not made of whole sectors"},
		{"vFlashErase:10007000,2000", "E.the range to erase is not made of whole sectors"},
		{"vFlashErase:10001000,fffff000", "E.the range to erase is not made of whole sectors"},
		{"vFlashWrite:10000000:abc", "E.flash at 0x10000000 was not erased"},
		{"vFlashWrite:20000000:abc", "E.memtype"},
		{"vFlashWrite:10000000", "E01"},
		{"vFlashWrite:x:abc", "E01"},
		{"vFlashDone", "OK"},
	} {
		s.want(bad[0], bad[1])
	}
	s.want("vFlashErase:10000000,4000", "OK")
	s.want("vFlashWrite:10000ffe:wxyz", "OK")
	s.want("vFlashWrite:10002000:more", "OK")
	s.want("vFlashWrite:10003ffe:abc", "E.flash at 0x10004000 was not erased")
	f.history()
	s.want("vFlashDone", "OK")
	// The sector with the image definition is erased first and written last, so
	// that whatever is lost on the way, a half of a program never boots.
	want := []string{
		"erase 0x10000000", "erase 0x10001000", "erase 0x10002000", "erase 0x10003000",
		"program 0x10003000", "program 0x10002000", "program 0x10001000", "program 0x10000000",
	}
	if got := f.history(); !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
	if got := f.mem[fakeFlash][0xffe:0x1002]; string(got) != "wxyz" {
		t.Errorf("flash has %q", got)
	}
	// The same again changes nothing; an erased sector is not programmed.
	s.want("vFlashErase:10000000,3000", "OK")
	s.want("vFlashWrite:10000ffe:wxyz", "OK")
	s.want("vFlashDone", "OK")
	if got, want := f.history(), []string{"erase 0x10002000"}; !slices.Equal(got, want) {
		t.Errorf("second load did %q, want %q", got, want)
	}
	if !strings.Contains(s.said(), "flash: 1 of 3 sectors changed and written") {
		t.Errorf("said %q", s.said())
	}
}

func TestFlashFails(t *testing.T) {
	for call, want := range map[string]string{
		"erase 0x10001000":   "E.erase failed at 0x10001000, 1 of 2 sectors erased, the board will not boot: no current",
		"erase 0x10000000":   "E.erase failed at 0x10000000, 0 of 2 sectors erased, the board will not boot: no current",
		"program 0x10000000": "E.programming failed at 0x10000000, 1 of 2 sectors written, the board will not boot: no current",
	} {
		t.Run(call, func(t *testing.T) {
			f := newFake()
			f.fail[call] = errors.New("no current")
			s := newSession(t, f)
			s.want("vFlashErase:10000000,2000", "OK")
			s.want("vFlashWrite:10000000:"+strings.Repeat("a", 0x2000), "OK")
			s.want("vFlashDone", want)
			s.want("vFlashDone", "OK") // forgotten
		})
	}
}

func TestMonitor(t *testing.T) {
	for _, tt := range []struct{ cmd, text, answer, call string }{
		{"help", "monitor commands:…gpio                    levels of the pins\n", "OK", ""},
		{"", "monitor commands:…", "OK", ""},
		{"info", "fake (simulated, riscv)\n  core 0  hart 0\n…flash", "OK", ""},
		{"stats", "300 cycles, 0.000002 s simulated\ncore 0: 7 instructions\ncore 1: 9 instructions\n", "OK", ""},
		{"gpio", "pin 25 high\n", "OK", ""},
		{"gpio all", "error: gpio takes no arguments\n", "E01", ""},
		{"nonsense", "error: unknown monitor command \"nonsense\"; try: monitor help\n", "E01", ""},
		{"reset", "", "OK", "reset 1"},
		{"reset halt", "", "OK", "reset 1"},
		{"reset init", "", "OK", "reset 1"},
		{"reset run", "reset; the program starts with the next continue\n", "OK", "reset 1"},
		{"reset sideways", "error: reset knows halt, init and run, not \"sideways\"\n", "E01", ""},
		{"halt", "", "OK", "halt"},
		{"send x", "error: this target has no console\n", "E01", ""},
	} {
		t.Run(tt.cmd, func(t *testing.T) {
			f := newFake()
			s := newSession(t, f)
			s.ask("?")
			f.history()
			text, answer := s.monitor(tt.cmd)
			rest := text
			for _, part := range strings.Split(tt.text, "…") {
				i := strings.Index(rest, part)
				if i < 0 || !strings.Contains(tt.text, "…") && rest != part {
					t.Fatalf("printed %q, want %q", text, tt.text)
				}
				rest = rest[i+len(part):]
			}
			if answer != tt.answer {
				t.Errorf("answer %q, want %q", answer, tt.answer)
			}
			if got := strings.Join(f.history(), " "); got != tt.call {
				t.Errorf("calls %q, want %q", got, tt.call)
			}
		})
	}
	s := newSession(t, newFake())
	s.want("qRcmd,zz", "E01")
}

// pipe is a console: what the program prints is read, what is sent is kept.
type pipe struct {
	io.Reader
	sent bytes.Buffer
}

func (p *pipe) Write(b []byte) (int, error) { return p.sent.Write(b) }

func TestConsole(t *testing.T) {
	r, w := io.Pipe()
	f := newFake()
	c := &pipe{Reader: r}
	f.console = c
	s := newSession(t, f)
	s.send("c")
	<-f.resumed
	_, _ = w.Write([]byte("caf\xc3\xa9 \xff\n"))
	if got := s.receive(); got != "O"+hexOf("café \uFFFD\n") {
		t.Errorf("printed %q", got)
	}
	s.raw("\x03")
	s.receive()
	if _, answer := s.monitor("send two words"); answer != "OK" || c.sent.String() != "two words\n" {
		t.Errorf("%s, sent %q", answer, c.sent.String())
	}
	// While the program is halted nobody fetches: the oldest part is lost, and
	// that is said.
	_, _ = w.Write(bytes.Repeat([]byte("x"), consoleLimit+100))
	_, _ = w.Write(nil)
	_ = w.Close()
	s.send("c")
	<-f.resumed
	all := ""
	for len(all) < consoleLimit+40 {
		all += string(mustUnhex(strings.TrimPrefix(s.receive(), "O")))
	}
	if !strings.Contains(all, "of output lost while the program was halted]") {
		t.Errorf("printed %q...", all[:100])
	}
}

func TestDocuments(t *testing.T) {
	s := newSession(t, newFake(), func(o *Options) { o.ELF, o.ELFPath = []byte("\x7fELF not really"), "/p/app.elf" })
	s.want("qSupported", "PacketSize=3ff0;…")
	s.want("qXfer:exec-file:read::0,100", "l/p/app.elf")
	xml := s.ask("qXfer:features:read:target.xml:0,2000")
	for _, part := range []string{
		"<architecture>riscv:rv32</architecture><osabi>none</osabi>", `<feature name="org.gnu.gdb.riscv.cpu"><reg name="x0" bitsize="32" regnum="0"/>`,
		`<reg name="pc" bitsize="32" regnum="32" type="code_ptr"/></feature>`, `<reg name="mstatus&lt;&amp;&gt;" bitsize="32" regnum="833" group="csr" save-restore="no"/></feature></target>`,
	} {
		if !strings.Contains(xml, part) {
			t.Errorf("%q is not in %s", part, xml)
		}
	}
	whole := ""
	for off := 0; ; {
		p := s.ask(fmt.Sprintf("qXfer:features:read:target.xml:%x,25", off))
		whole += p[1:]
		off += len(p) - 1
		if p[0] == 'l' {
			break
		}
	}
	if whole != xml[1:] {
		t.Errorf("in pieces it is %q", whole)
	}
	s.want("qXfer:memory-map:read::0,2000", `l<?xml version="1.0"?><!DOCTYPE memory-map PUBLIC "+//IDN gnu.org//DTD GDB Memory Map V1.0//EN" "http://sourceware.org/gdb/gdb-memory-map.dtd"><memory-map>`+
		`<memory type="rom" start="0x0" length="0x400"/><memory type="flash" start="0x10000000" length="0x8000"><property name="blocksize">0x1000</property></memory>`+
		`<memory type="ram" start="0x20000000" length="0x2000"/></memory-map>`)
}
