package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/faults"
)

type sample struct {
	Name string   `json:"name"`
	List []string `json:"list"`
}

func (sample) Kind() string { return "sample" }
func (s sample) Text(t *Text) {
	t.Head("NAME", "N")
	t.Row(s.Name, "1")
	t.Row("longer name", "2")
	t.Linef("end of %s", s.Name)
}

func testUI(t *testing.T, tty bool, opt Options) (u *UI, out, errs *bytes.Buffer) {
	t.Helper()
	out, errs = new(bytes.Buffer), new(bytes.Buffer)
	u, err := New(Streams{Out: out, Err: errs, OutTTY: tty, ErrTTY: tty, Width: 60}, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close() })
	return u, out, errs
}

func TestFaultLooksAsInTheContract(t *testing.T) {
	f := &faults.Fault{
		Code: faults.CodeAmbiguous, Status: faults.StatusAmbiguous,
		Summary: "two boards match and none was chosen",
		Details: []string{
			"E660B440072C1A2A  Debugprobe on Pico (CMSIS-DAP)  usb 3-1.2  /dev/ttyACM0",
			"E661640843782139  Debug Probe (CMSIS-DAP)         usb 3-1.4  /dev/ttyACM1",
		},
		Try: []string{"stem-hw use E660      (for this project)", "stem-hw flash -b E660 app.elf"},
	}
	want := `error: two boards match and none was chosen                      [ambiguous-board]
  E660B440072C1A2A  Debugprobe on Pico (CMSIS-DAP)  usb 3-1.2  /dev/ttyACM0
  E661640843782139  Debug Probe (CMSIS-DAP)         usb 3-1.4  /dev/ttyACM1
try:  stem-hw use E660      (for this project)
      stem-hw flash -b E660 app.elf
`
	u, out, errs := testUI(t, false, Options{})
	if st := u.Fault(f); st != faults.StatusAmbiguous {
		t.Errorf("status %d", st)
	}
	if errs.String() != want {
		t.Errorf("got\n%s\nwant\n%s", errs, want)
	}
	if out.Len() != 0 {
		t.Errorf("standard output has %q", out)
	}
}

func TestFaultRowsAndJSON(t *testing.T) {
	f := &faults.Fault{
		Code: faults.CodeBadImage, Status: faults.StatusImage, Summary: "not usable",
		Seen: "a\x1b[2Jb\nc", Wanted: "an ELF", Err: errors.New("boom"),
	}
	u, out, errs := testUI(t, false, Options{JSON: true})
	if st := u.Fault(f); st != faults.StatusImage {
		t.Errorf("status %d", st)
	}
	for _, w := range []string{`  found   a\x1b[2Jb\nc` + "\n", "  need    an ELF\n", "  cause   boom\n"} {
		if !strings.Contains(errs.String(), w) {
			t.Errorf("%q lacks %q", errs, w)
		}
	}
	var doc map[string]any
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	if doc["schema"] != "stem-hw/error/1" || doc["code"] != "bad-image" || doc["status"] != 7.0 || doc["cause"] != "boom" {
		t.Errorf("document %v", doc)
	}
	if bytes.Count(out.Bytes(), []byte("\n")) != 1 {
		t.Errorf("the document is not one line: %q", out)
	}
}

func TestUnclassifiedErrorIsInternal(t *testing.T) {
	u, _, errs := testUI(t, false, Options{})
	if st := u.Fault(errors.New("lost")); st != faults.StatusInternal {
		t.Errorf("status %d", st)
	}
	if !strings.Contains(errs.String(), "[internal]") || !strings.Contains(errs.String(), "lost") {
		t.Errorf("got %q", errs)
	}
	if st := u.Fault(nil); st != faults.StatusOK {
		t.Errorf("nil gives %d", st)
	}
}

func TestResultRenderings(t *testing.T) {
	r := sample{Name: "x\x1b\u202e", List: []string{"<a>"}}
	u, out, _ := testUI(t, false, Options{})
	if err := u.Result(r); err != nil {
		t.Fatal(err)
	}
	want := "NAME           N\nx\\x1b\\u{202e}  1\nlonger name    2\nend of x\\x1b\\u{202e}\n"
	if out.String() != want {
		t.Errorf("text %q, want %q", out, want)
	}

	u, out, _ = testUI(t, false, Options{JSON: true})
	if err := u.Event(r); err != nil {
		t.Fatal(err)
	}
	want = `{"schema":"stem-hw/sample/1","name":"x\u001b\u202e","list":["<a>"]}` + "\n"
	if out.String() != want {
		t.Errorf("event %q, want %q", out, want)
	}
	out.Reset()
	if err := u.Result(r); err != nil {
		t.Fatal(err)
	}
	var back sample
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back.Name != r.Name {
		t.Errorf("document %q: %v", out, err)
	}
}

func TestTalkLevels(t *testing.T) {
	for _, c := range []struct {
		name string
		opt  Options
		want string
	}{
		{"plain", Options{}, "say\nnote: n\nwarning: w\n"},
		{"quiet", Options{Quiet: true, Verbose: 3}, "warning: w\n"},
		{"verbose", Options{Verbose: 1}, "say\nnote: n\nwarning: w\nv1\n"},
		{"colour", Options{Color: true}, "say\nnote: n\nwarning: w\n"},
	} {
		u, out, errs := testUI(t, false, c.opt)
		u.Say("say")
		u.Note("%s", "n")
		u.Warn("w")
		u.Verbose(1, "v1")
		u.Verbose(2, "v2")
		if errs.String() != c.want || out.Len() != 0 {
			t.Errorf("%s: %q, want %q", c.name, errs, c.want)
		}
	}
	u, _, errs := testUI(t, true, Options{Color: true})
	u.Warn("w \x1b[0m")
	if want := "\x1b[33mwarning: \x1b[0mw \\x1b[0m\n"; errs.String() != want {
		t.Errorf("coloured %q, want %q", errs, want)
	}
}

func TestLogFileHearsEverything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	now := time.Date(2025, 1, 2, 3, 4, 5, 6e6, time.UTC)
	u, _, _ := testUI(t, false, Options{Quiet: true, LogFile: path, Now: func() time.Time { return now }})
	u.Say("a")
	u.Verbose(3, "b\nc")
	u.Fault(faults.Usage("bad"))
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const stamp = "2025-01-02T03:04:05.006Z "
	got := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(got) != 4 || got[0] != stamp+"a" || got[1] != stamp+"b" || got[2] != stamp+"c" || !strings.HasPrefix(got[3], stamp+"error: bad") {
		t.Errorf("log %q", got)
	}
	if _, err := New(Streams{Out: os.Stdout, Err: os.Stderr}, Options{LogFile: filepath.Join(path, "x")}); !faults.Is(err, faults.CodeFileAccess) {
		t.Errorf("a log file that cannot be opened gives %v", err)
	}
}

func TestProgress(t *testing.T) {
	u, _, errs := testUI(t, false, Options{})
	p := u.Progress("erase", 10)
	p.Add(5)
	p.Done()
	u.Progress("program", 10).Done()
	if errs.String() != "erase\nprogram\n" {
		t.Errorf("without a terminal %q", errs)
	}

	now := time.Unix(0, 0)
	u, _, errs = testUI(t, true, Options{Now: func() time.Time { return now }})
	p = u.Progress("erase", 4)
	p.Add(1)
	now = now.Add(time.Second)
	p.Add(1)
	u.Say("hello")
	p.Done()
	p.Done()
	got := errs.String()
	for _, w := range []string{"erase  [------", "  50 %", "\r\x1b[Khello\n"} {
		if !strings.Contains(got, w) {
			t.Errorf("on a terminal %q lacks %q", got, w)
		}
	}
	if strings.Contains(got, " 25 %") {
		t.Errorf("drawn too often: %q", got)
	}
	if !strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("the bar stays: %q", got)
	}
}

func TestRows(t *testing.T) {
	u, _, errs := testUI(t, false, Options{})
	r := u.Rows([]string{"one"})
	r.Set(0, "write", 1, 2)
	r.End(0, "done")
	r.Close()
	if r != nil || errs.String() != "" {
		t.Errorf("without a terminal %q", errs)
	}

	now := time.Unix(0, 0)
	u, _, errs = testUI(t, true, Options{Now: func() time.Time { return now }})
	r = u.Rows([]string{"E660", "desk\x1b[2J"})
	r.Set(0, "write", 1, 4)
	r.Set(0, "write", 2, 4) // too soon to be drawn
	now = now.Add(time.Second)
	r.Set(0, "write", 3, 4)
	u.Say("hello")
	r.End(1, "failed")
	r.Close()
	r.Close()
	got := errs.String()
	for _, w := range []string{"E660", "waiting", " 25 %", " 75 %", "\x1b[A\x1b[Khello\n", "failed"} {
		if !strings.Contains(got, w) {
			t.Errorf("%q lacks %q", got, w)
		}
	}
	if strings.Contains(got, " 50 %") || strings.Contains(got, "\x1b[2J") {
		t.Errorf("%q", got)
	}
	// Every picture of two lines is taken away again.
	if up, down := strings.Count(got, "\x1b[A"), strings.Count(got, "\r\n"); up != down || down == 0 {
		t.Errorf("%d lines up, %d down: %q", up, down, got)
	}
}

func TestBarFits(t *testing.T) {
	for width := 0; width < 90; width++ {
		for _, total := range []int64{0, 7} {
			if s := barLine("phase", 9, total, width); width > 0 && len([]rune(s)) > width {
				t.Errorf("width %d: %q", width, s)
			}
		}
	}
}

func TestColorAllowed(t *testing.T) {
	env := map[string]string{}
	get := func(k string) string { return env[k] }
	if !ColorAllowed(get) {
		t.Error("not allowed by default")
	}
	env["NO_COLOR"] = "1"
	if ColorAllowed(get) {
		t.Error("allowed with NO_COLOR")
	}
	env["NO_COLOR"], env["TERM"] = "", "dumb"
	if ColorAllowed(get) {
		t.Error("allowed on a dumb terminal")
	}
}
