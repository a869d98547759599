//go:build judges

package debugport_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// examineConfigs reach the chip by each way with a debugger's own description of
// it, or with ours where it has none.
var examineConfigs = map[string]string{
	"dap":  "dap-tcp",
	"swd":  "swd-bitbang",
	"jtag": "",
}

// TestJudgesRecord records what debuggers send to examine a chip, for
// TestReplay. $RECORD is a list of NAME:WAY:ARCH:PROGRAM, separated by spaces:
// WAY is dap, swd or jtag, PROGRAM an OpenOCD, or a number: a port of the loopback
// interface where some other debugger will come.
func TestJudgesRecord(t *testing.T) {
	if os.Getenv("RECORD") == "" {
		t.Skip("nothing to record: RECORD=NAME:WAY:ARCH:PROGRAM")
	}
	for _, what := range strings.Fields(os.Getenv("RECORD")) {
		f := strings.SplitN(what, ":", 4)
		if len(f) != 4 {
			t.Fatalf("%q is not NAME:WAY:ARCH:PROGRAM", what)
		}
		record(t, f[0], f[1], f[2], f[3])
	}
}

// tap notes what goes both ways.
type tap struct {
	net.Conn
	log *[]noted
}

type noted struct {
	mark string
	data []byte
}

func (c tap) note(mark string, p []byte) {
	if n := len(*c.log); n > 0 && (*c.log)[n-1].mark == mark {
		(*c.log)[n-1].data = append((*c.log)[n-1].data, p...)
		return
	}
	*c.log = append(*c.log, noted{mark, bytes.Clone(p)})
}

func (c tap) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.note(">", p[:n])
	return n, err
}

func (c tap) Write(p []byte) (int, error) {
	c.note("<", p)
	return c.Conn.Write(p)
}

func record(t *testing.T, name, way, arch, program string) {
	address := "127.0.0.1:0"
	manual := strings.Trim(program, "0123456789") == ""
	if manual {
		address = "127.0.0.1:" + program
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	done := make(chan []noted)
	go func() {
		var log []noted
		defer func() { done <- log }()
		// Some come more than once, first to look who is there.
		for d := newDesk(arch); len(log) < enough; {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = d.serve(way, single{tap{c, &log}})
			_ = c.Close()
		}
	}()
	said := ""
	if !manual {
		host, port, _ := net.SplitHostPort(l.Addr().String())
		cores := "cm0 cm1"
		if arch == "riscv" {
			cores = "rv0 rv1"
		}
		text := jtagConfig
		if way != "jtag" {
			text = strings.NewReplacer("ADAPTER", adapters[examineConfigs[way]], "CORES", cores).Replace(swdConfig)
		}
		said = openocd(t, program, "-f", config(t, text, host, port), "-c", "init; shutdown")
	}
	log := <-done
	if len(log) < enough {
		t.Fatalf("%s: nothing worth recording:\n%s", name, said)
	}
	save(t, fmt.Sprintf("%s_%s_%s.txt", name, way, arch), way, log)
}

// enough is how many turns examining a chip takes at least.
const enough = 40

// save writes a recording. Packets are lines of digits; characters are
// compressed.
func save(t *testing.T, name, way string, log []noted) {
	var text bytes.Buffer
	fmt.Fprintf(&text, "# What a debugger sent (>) to examine the simulated chip, and what this server answered (<).\n")
	for _, n := range log {
		if way != "dap" {
			fmt.Fprintf(&text, "%s%s %s\n", n.mark, n.mark, n.data)
			continue
		}
		for p := n.data; len(p) > 8; {
			size := min(8+int(binary.LittleEndian.Uint16(p[4:])), len(p))
			fmt.Fprintf(&text, "%s %x\n", n.mark, p[:size])
			p = p[size:]
		}
	}
	out := text.Bytes()
	if way != "dap" {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		if _, err := io.Copy(w, &text); err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
		out, name = z.Bytes(), name+".gz"
	}
	if err := os.WriteFile(filepath.Join("testdata", "examine", name), out, 0o644); err != nil {
		t.Fatal(err)
	}
}
