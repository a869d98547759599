package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	list, err := parse(strings.NewReader(`# remark
a.elf	rp2350	text:one; two	100

a.elf	rp2350	text:three	300
b.bin	hazard3-tb	exit:3;file:b.expected	5
c	riscv-tests	exit:0;signature:c.ref	6
d.elf	rp2350	runs	7
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 4 {
		t.Fatalf("%d programs", len(list))
	}
	a, b := list[0], list[1]
	if a.limit != 300 || len(a.texts) != 2 || a.texts[0] != "one; two" || a.texts[1] != "three" {
		t.Errorf("a is %+v", a)
	}
	if b.exit == nil || *b.exit != 3 || b.output != "b.expected" {
		t.Errorf("b is %+v", b)
	}
	if list[2].signature != "c.ref" || !list[3].runs {
		t.Errorf("c, d are %+v, %+v", list[2], list[3])
	}
	for _, bad := range []string{"a\tb\tc", "a\trp2350\tprints:x\t1", "a\trp2350\truns\tmany", "a\trp2350\texit:x\t1", "a\trp2350\ttext:\t1"} {
		if _, err := parse(strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestTable runs real programs, some against a wrong expectation.
func TestTable(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"status.elf", "crash.elf", "texts.elf", "busy.elf"} {
		data, err := os.ReadFile(filepath.Join("../../cmd/stem-hw/testdata/prog", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("good.txt", "\nhello from the testbench\n\n")
	write("bad.txt", "hello from somewhere\n")
	for _, c := range []struct {
		line string
		why  string // empty: passes
	}{
		{"status.elf\thazard3-tb\texit:3;file:good.txt\t10000", ""},
		{"status.elf\thazard3-tb\texit:3;file:bad.txt\t10000", `line 1 of the output is "hello from the testbench", want "hello from somewhere"`},
		{"status.elf\thazard3-tb\texit:0\t10000", "exit status 3, want 0"},
		{"texts.elf\thazard3-tb\ttext:second\t10000\ntexts.elf\thazard3-tb\ttext:first\t10000", ""},
		{"texts.elf\thazard3-tb\ttext:fourth\t10000", `the text "fourth" did not come`},
		{"texts.elf\thazard3-tb\texit:0\t10000", "did not exit"},
		{"busy.elf\thazard3-tb\truns\t100000", ""},
		{"texts.elf\thazard3-tb\truns\t100000", ""},
		{"crash.elf\thazard3-tb\truns\t100000", "did not run to the limit"},
		{"busy.elf\thazard3-tb\texit:0;signature:x\t1000", "did not exit"},
		{"nothing.elf\thazard3-tb\truns\t1000", "no such file"},
	} {
		write("expect.tsv", c.line+"\n")
		var out, errs bytes.Buffer
		status := peers(context.Background(), []string{"-jobs", "1", dir}, &out, &errs)
		if want := c.why != ""; (status != 0) != want {
			t.Errorf("%q: status %d\n%s%s", c.line, status, &out, &errs)
		}
		if !strings.Contains(out.String(), c.why) {
			t.Errorf("%q: %q lacks %q", c.line, &out, c.why)
		}
	}
	write("expect.tsv", "")
	if status := peers(context.Background(), []string{dir}, new(bytes.Buffer), new(bytes.Buffer)); status != 1 {
		t.Errorf("a folder without programs gives status %d, want 1", status)
	}
}
