package semihost

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/faults"
)

// memCore is a core with 64 KiB of memory at 0x1000.
type memCore struct {
	mem       []byte
	op, param uint32
	result    uint32
	set       bool
}

const memBase = 0x1000

func newMemCore() *memCore { return &memCore{mem: make([]byte, 64<<10)} }

func (c *memCore) Args() (op, param uint32) { return c.op, c.param }
func (c *memCore) SetResult(v uint32)       { c.result, c.set = v, true }

func (c *memCore) slice(addr uint32, n int) []byte {
	off := addr - memBase
	if off > uint32(len(c.mem)) || uint64(off)+uint64(n) > uint64(len(c.mem)) {
		return nil
	}
	return c.mem[off : int(off)+n]
}

func (c *memCore) Read(addr uint32, p []byte) bool {
	s := c.slice(addr, len(p))
	copy(p, s)
	return s != nil
}

func (c *memCore) Write(addr uint32, p []byte) bool {
	s := c.slice(addr, len(p))
	copy(s, p)
	return s != nil
}

// put stores bytes and returns their address; areas are 4 KiB apart.
func (c *memCore) put(area uint32, p []byte) uint32 {
	addr := memBase + 0x1000*area
	copy(c.mem[addr-memBase:], p)
	return addr
}

// testConsole is a console with fixed input.
type testConsole struct {
	out    strings.Builder
	in     string
	closed bool
}

func (c *testConsole) Put(p []byte) { c.out.Write(p) }
func (c *testConsole) Get(p []byte) (int, bool) {
	n := copy(p, c.in)
	c.in = c.in[n:]
	return n, n == 0 && c.closed
}

// program makes calls as a program on a core does.
type program struct {
	*testing.T
	h       *Host
	c       *memCore
	con     *testConsole
	dir     string
	notices []string
}

func newProgram(t *testing.T, dir string) *program {
	t.Helper()
	p := &program{T: t, c: newMemCore(), con: &testConsole{}, dir: dir}
	h, err := New(Options{
		Console: p.con, Dir: dir, CommandLine: "prog arg", Heap: [4]uint32{1, 2, 3, 4},
		Elapsed: func() time.Duration { return 12345678 * time.Microsecond },
		Start:   time.Unix(1000, 0),
		Notice:  func(s string) { p.notices = append(p.notices, s) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	p.h = h
	return p
}

// block makes a call with a block of words.
func (p *program) block(op uint32, words ...uint32) uint32 {
	p.Helper()
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return p.call(op, p.c.put(0, b))
}

func (p *program) call(op, param uint32) uint32 {
	p.Helper()
	p.c.op, p.c.param, p.c.set, p.c.result = op, param, false, 0
	r := p.h.Call(p.c)
	if r.Again || r.Exit {
		p.Fatalf("operation %#x: %+v", op, r)
	}
	return p.c.result
}

func (p *program) open(name string, mode uint32) uint32 {
	p.Helper()
	return p.block(sysOpen, p.c.put(1, []byte(name+"\x00")), mode, uint32(len(name)))
}

func (p *program) write(h uint32, text string) uint32 {
	p.Helper()
	return p.block(sysWrite, h, p.c.put(2, []byte(text)), uint32(len(text)))
}

func (p *program) read(h uint32, n int) (string, uint32) {
	p.Helper()
	addr := p.c.put(3, make([]byte, n))
	left := p.block(sysRead, h, addr, uint32(n))
	if left == failed {
		return "", left
	}
	return string(p.c.slice(addr, n-int(left))), left
}

func (p *program) errno() int32 { return int32(p.call(sysErrno, 0)) }

func (p *program) fails(what string, got uint32, errno int32) {
	p.Helper()
	if got != failed {
		p.Errorf("%s gives %#x, want -1", what, got)
	} else if e := p.errno(); e != errno {
		p.Errorf("%s sets errno %d, want %d", what, e, errno)
	}
}

func TestConsole(t *testing.T) {
	p := newProgram(t, "")
	p.call(sysWriteC, p.c.put(1, []byte("A")))
	p.call(sysWrite0, p.c.put(1, []byte("BC\x00D")))
	out := p.open(":tt", 4)
	if left := p.write(out, "EF\n"); left != 0 {
		t.Errorf("write leaves %d", left)
	}
	if got := p.con.out.String(); got != "ABCEF\n" {
		t.Errorf("printed %q", got)
	}
	in := p.open(":tt", 0)
	if p.block(sysIsTTY, in) != 1 || p.block(sysIsTTY, out) != 1 {
		t.Error("the console is no terminal")
	}
	p.con.in = "hello"
	if s, left := p.read(in, 8); s != "hello" || left != 3 {
		t.Errorf("read %q, left %d", s, left)
	}
	p.con.in = "xy"
	if c := p.call(sysReadC, 0); c != 'x' {
		t.Errorf("SYS_READC gives %#x", c)
	}
	p.call(sysReadC, 0)

	// Nothing there yet: the call is to be made again, nothing was changed.
	for _, op := range []uint32{sysReadC, sysRead} {
		p.c.op, p.c.param, p.c.set = op, p.c.put(0, words32(in, memBase+0x3000, 8)), false
		if r := p.h.Call(p.c); !r.Again || p.c.set {
			t.Errorf("operation %#x without input: %+v, result set %v", op, r, p.c.set)
		}
	}
	p.con.closed = true
	if c := p.call(sysReadC, 0); c != failed {
		t.Errorf("SYS_READC at the end gives %#x", c)
	}
	if _, left := p.read(in, 8); left != 8 {
		t.Errorf("read at the end leaves %d, want 8", left)
	}
	if p.write(in, "x") != 1 || p.errno() != eBadF {
		t.Error("the input can be written")
	}
	p.fails("seek on the console", p.block(sysSeek, in, 0), eInval)
	p.fails("length of the console", p.block(sysFLen, in), eInval)
}

func words32(ws ...uint32) []byte {
	var b []byte
	for _, w := range ws {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	p := newProgram(t, dir)
	h := p.open("a.txt", 6) // w+
	if h == failed {
		t.Fatalf("open: errno %d", p.errno())
	}
	p.write(h, "hello world")
	if n := p.block(sysFLen, h); n != 11 {
		t.Errorf("length %d", n)
	}
	p.block(sysSeek, h, 6)
	if s, left := p.read(h, 100); s != "world" || left != 95 {
		t.Errorf("read %q, left %d", s, left)
	}
	if p.block(sysIsTTY, h) != 0 {
		t.Error("a file is a terminal")
	}
	if p.block(sysClose, h) != 0 {
		t.Error("close failed")
	}
	p.fails("closing twice", p.block(sysClose, h), eBadF)

	h = p.open("a.txt", 8) // a
	p.write(h, "!")
	p.block(sysClose, h)
	if b, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(b) != "hello world!" {
		t.Errorf("the file holds %q", b)
	}
	h = p.open("a.txt", 0) // r
	if p.write(h, "x") != 1 || p.errno() != eBadF {
		t.Error("a file opened for reading can be written")
	}
	h = p.open("a.txt", 4) // w truncates
	if _, left := p.read(h, 4); left != failed {
		t.Error("a file opened for writing can be read")
	}
	if n := p.block(sysFLen, h); n != 0 {
		t.Errorf("w leaves %d bytes", n)
	}
	p.fails("opening what is not there", p.open("nothing", 0), eNoEnt)

	name, to := p.c.put(1, []byte("a.txt")), p.c.put(2, []byte("b.txt"))
	if p.block(sysRename, name, 5, to, 5) != 0 {
		t.Errorf("rename: errno %d", p.errno())
	}
	if p.block(sysRemove, to, 5) != 0 {
		t.Errorf("remove: errno %d", p.errno())
	}
	if list, _ := os.ReadDir(dir); len(list) != 0 {
		t.Errorf("left behind: %v", list)
	}
	buf := p.c.put(1, make([]byte, 20))
	if p.block(sysTmpNam, buf, 7, 20) != 0 || string(p.c.slice(buf, 11)) != "tmp007.tmp\x00" {
		t.Errorf("tmpnam %q", p.c.slice(buf, 11))
	}
	p.fails("tmpnam in a short buffer", p.block(sysTmpNam, buf, 7, 5), eInval)
	p.fails("tmpnam 256", p.block(sysTmpNam, buf, 256, 20), eInval)
}

// TestConfinement tries to leave the folder.
func TestConfinement(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "in")
	secret := filepath.Join(top, "secret")
	for _, d := range []string{dir, filepath.Join(dir, "sub")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plain"), []byte("plain"), 0o644); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{
		"out": secret, "up": "..", "loop": "loop", "inside": "plain", "subdir": "sub",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	p := newProgram(t, dir)
	for _, name := range []string{
		"../secret", "/etc/passwd", secret, "sub/../../secret", "sub/..", "..", ".", "", "out", "up/secret",
		"loop", "inside", "subdir/new", "sub/../plain", "plain\x00.txt", "./../secret",
	} {
		for mode := range uint32(12) {
			if h := p.open(name, mode); h != failed {
				t.Errorf("%q can be opened in mode %d", name, mode)
			}
		}
		addr := p.c.put(1, []byte(name))
		if p.block(sysRemove, addr, uint32(len(name))) != failed {
			t.Errorf("%q can be removed", name)
		}
		plain := p.c.put(2, []byte("plain"))
		if p.block(sysRename, plain, 5, addr, uint32(len(name))) != failed {
			t.Errorf("plain can be renamed to %q", name)
		}
		if p.block(sysRename, addr, uint32(len(name)), plain, 5) != failed {
			t.Errorf("%q can be renamed", name)
		}
	}
	p.fails("opening a folder", p.open("sub", 0), eIsDir)
	if h := p.open("./sub//new", 4); h == failed {
		t.Errorf("an ordinary name is refused: errno %d", p.errno())
	}
	if b, err := os.ReadFile(secret); err != nil || string(b) != "secret" {
		t.Errorf("the secret is %q, %v", b, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "plain")); err != nil || string(b) != "plain" {
		t.Errorf("plain is %q, %v", b, err)
	}
}

func TestNoFolder(t *testing.T) {
	p := newProgram(t, "")
	p.fails("open", p.open("a", 4), eAccess)
	p.open("b", 4)
	if len(p.notices) != 1 {
		t.Errorf("notices %q, want one", p.notices)
	}
	name := p.c.put(1, []byte("a"))
	p.fails("remove", p.block(sysRemove, name, 1), eAccess)
	p.fails("rename", p.block(sysRename, name, 1, name, 1), eAccess)
	if _, err := New(Options{Console: &testConsole{}, Dir: filepath.Join(t.TempDir(), "x")}); !faults.Is(err, faults.CodeFileAccess) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestRest(t *testing.T) {
	p := newProgram(t, "")
	if v := p.call(sysClock, 0); v != 1234 {
		t.Errorf("clock %d", v)
	}
	if v := p.call(sysTime, 0); v != 1012 {
		t.Errorf("time %d", v)
	}
	el := p.c.put(4, make([]byte, 8))
	if p.call(sysElapsed, el) != 0 || binary.LittleEndian.Uint64(p.c.slice(el, 8)) != 12345678 {
		t.Errorf("elapsed % x", p.c.slice(el, 8))
	}
	if v := p.call(sysTickFreq, 0); v != 1e6 {
		t.Errorf("tick frequency %d", v)
	}
	p.fails("a command", p.block(sysSystem, p.c.put(1, []byte("rm -rf /")), 8), ePerm)
	buf := p.c.put(5, make([]byte, 32))
	if p.block(sysGetCmdline, buf, 32) != 0 || string(p.c.slice(buf, 9)) != "prog arg\x00" ||
		binary.LittleEndian.Uint32(p.c.slice(memBase+4, 4)) != 8 {
		t.Errorf("command line %q", p.c.slice(buf, 9))
	}
	p.fails("a command line in a short buffer", p.block(sysGetCmdline, buf, 8), eInval)
	heap := p.c.put(6, make([]byte, 16))
	if p.block(sysHeapInfo, heap) != 0 || p.c.slice(heap, 16)[12] != 4 {
		t.Errorf("heap % x", p.c.slice(heap, 16))
	}
	if p.block(sysIsError, 0xffffffff) != 1 || p.block(sysIsError, 0) != 0 {
		t.Error("SYS_ISERROR")
	}
	h := p.open(":semihosting-features", 0)
	if s, _ := p.read(h, 5); s != "SHFB\x03" {
		t.Errorf("features %q", s)
	}
	if p.block(sysFLen, h) != 5 {
		t.Error("length of the features")
	}
	p.fails("an unknown operation", p.call(0x99, 0), eNoSys)
	p.fails("a block nowhere", p.call(sysOpen, 0xfffffff0), eFault)
	for n := 0; ; n++ {
		if p.open(":tt", 4) == failed {
			if n != maxHandles-1 || p.errno() != eMFile {
				t.Errorf("%d files could be opened", n)
			}
			break
		}
	}
	p.h.Reset()
	if p.open(":tt", 4) == failed {
		t.Error("Reset does not close files")
	}
}

func TestExit(t *testing.T) {
	p := newProgram(t, "")
	for _, c := range []struct {
		op    uint32
		param uint32
		code  int
	}{
		{sysExit, appExit, 0},
		{sysExit, 0x20023, 1},
		{sysExitExtended, p.c.put(0, words32(appExit, 42)), 42},
	} {
		p.c.op, p.c.param = c.op, c.param
		if r := p.h.Call(p.c); !r.Exit || r.Code != c.code {
			t.Errorf("%#x %#x gives %+v", c.op, c.param, r)
		}
	}
	p.c.op, p.c.param = sysExitExtended, p.c.put(0, words32(0x20024, 0))
	if r := p.h.Call(p.c); !r.Exit || r.Code != 1 {
		t.Errorf("an abnormal end with status 0 gives %+v", r)
	}
}

func TestQuota(t *testing.T) {
	p := newProgram(t, t.TempDir())
	p.h.files.left = 10
	h := p.open("a", 4)
	if left := p.write(h, "12345678"); left != 0 {
		t.Errorf("left %d", left)
	}
	if left := p.write(h, "12345678"); left != 8 || p.errno() != eFBig {
		t.Errorf("over the quota: left %d, errno %d", left, p.errno())
	}
	p.block(sysSeek, h, 0x7fffffff)
	if left := p.write(h, "x"); left != 1 {
		t.Error("a hole goes round the quota")
	}
}

// FuzzCall makes arbitrary calls with arbitrary memory: nothing may panic, hang,
// or leave the folder.
func FuzzCall(f *testing.F) {
	f.Add(uint32(sysOpen), uint32(memBase), words32(memBase+16, 4, 5), []byte("a.txt"))
	f.Add(uint32(sysRename), uint32(memBase), words32(memBase+16, 2, memBase+18, 3), []byte("../x"))
	f.Add(uint32(sysWrite), uint32(memBase), words32(1, memBase, 0xffffffff), []byte{})
	f.Fuzz(func(t *testing.T, op, param uint32, block, rest []byte) {
		top := t.TempDir()
		dir := filepath.Join(top, "in")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		p := newProgram(t, dir)
		p.open("one", 6)
		p.con.in, p.con.closed = "input", true
		copy(p.c.mem, block)
		copy(p.c.mem[16:], rest)
		for range 3 {
			p.c.op, p.c.param = op, param
			if r := p.h.Call(p.c); r.Again {
				t.Fatal("a closed input is waited for")
			}
		}
		if list, _ := os.ReadDir(top); len(list) != 1 {
			t.Fatalf("outside of the folder: %v", list)
		}
	})
}
