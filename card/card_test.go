package card

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/faults"
)

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func workspace(t *testing.T) *Workspace {
	t.Helper()
	root := t.TempDir()
	write(t, root, map[string]string{
		"inf/stem.toml":          "[series]\nname='inf'\ntitle='Informatics'\n",
		"inf/bss/stem.toml":      "[card]\nname='bss'\ntargets=['rp2350-rv','native-amd64']\n[[task]]\nname='1'\n[[task]]\nname='4'\nfolder='four'\n",
		"inf/bss/four/main.c":    "",
		"inf/data/stem.toml":     "[card]\nname='data'\n",
		"asm/stem.toml":          "[card]\nname='jump'\nseries='arch'\n[build]\ncommand=['touch','{target}/{task}x']\noutput='out/{target}.elf'\n",
		"asm2/stem.toml":         "[card]\nname='bss'\nseries='arch'\n",
		".hidden/stem.toml":      "[card]\nname='hidden'\n",
		"broken/stem.toml":       "[card]\nname='x'\ncolour='red'\n",
		"deep/a/b/c/d/stem.toml": "[card]\nname='deep'\n",
	})
	if err := os.Symlink(filepath.Join(root, "inf"), filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	ws, err := Scan(root)
	if err != nil {
		t.Fatal(err)
	}
	return ws
}

func TestResolve(t *testing.T) {
	ws := workspace(t)
	if len(ws.Cards) != 5 || len(ws.Broken) != 1 || !strings.Contains(ws.Broken[0].Error(), "colour") {
		t.Errorf("%d cards, broken %v", len(ws.Cards), ws.Broken)
	}
	for _, tt := range []struct{ words, name, dir string }{
		{"inf bss 4", "inf-bss-t4", "inf/bss/four"},
		{"inf bss", "inf-bss-t1", "inf/bss"},
		{"inf data", "inf-data", "inf/data"},
		{"data", "inf-data", "inf/data"},
		{"jump", "arch-jump", "asm"},
		{"deep", "cards-deep", "deep/a/b/c/d"},
	} {
		p, err := ws.Resolve(strings.Fields(tt.words))
		if err != nil || p.Name() != tt.name || p.Dir != filepath.Join(ws.Root, tt.dir) {
			t.Errorf("%s: %+v, %v", tt.words, p, err)
		}
	}
	for _, tt := range []struct {
		words string
		code  faults.Code
		says  string
	}{
		{"inf bbs", faults.CodeNoCard, "perhaps bss"},
		{"inf bss 5", faults.CodeNoCard, "1"},
		{"ifn bss", faults.CodeNoCard, "perhaps inf"},
		{"bss", faults.CodeUsage, "several"},
		{"inf", faults.CodeUsage, "which card"},
		{"hidden", faults.CodeNoCard, "no series or card"},
		{"inf data 1 2", faults.CodeUsage, ""},
		{"inf data x", faults.CodeNoCard, ""},
		{"", faults.CodeUsage, ""},
	} {
		_, err := ws.Resolve(strings.Fields(tt.words))
		if !faults.Is(err, tt.code) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", tt.words, err)
		}
	}
	all, err := ws.ResolveAll([]string{"inf", "bss"}, true)
	if err != nil || len(all) != 2 {
		t.Errorf("%v, %v", all, err)
	}
	if all, err = ws.ResolveAll([]string{"inf", "bss", "4"}, true); err != nil || len(all) != 1 || all[0].Task != "4" {
		t.Errorf("%v, %v", all, err)
	}
	if ws, err := Scan(filepath.Join(t.TempDir(), "none")); err != nil || len(ws.Cards) != 0 {
		t.Errorf("%v, %v", ws, err)
	}
}

func TestHostileFiles(t *testing.T) {
	for name, text := range map[string]string{
		"folder leaves":     "[card]\nname='x'\n[[task]]\nname='1'\nfolder='../../etc'\n",
		"absolute folder":   "[card]\nname='x'\n[[task]]\nname='1'\nfolder='/etc'\n",
		"output leaves":     "[card]\nname='x'\n[build]\noutput='../x'\n",
		"name is a path":    "[card]\nname='../x'\n",
		"name has a format": "[card]\nname='#{pane_id}'\n",
		"name is an option": "[card]\nname='-x'\n",
		"long name":         "[card]\nname='" + strings.Repeat("x", 33) + "'\n",
		"task twice":        "[card]\nname='x'\n[[task]]\nname='1'\n[[task]]\nname='1'\n",
		"unknown target":    "[card]\nname='x'\ntargets=['z80']\n",
		"unknown key":       "[card]\nname='x'\nshell='sh'\n",
		"command as text":   "[card]\nname='x'\n[build]\ncommand='rm -rf /'\n",
		"tasks alone":       "[[task]]\nname='1'\n",
		"no TOML":           "\x00\x01",
	} {
		if _, err := ParseFile("stem.toml", []byte(text)); !faults.Is(err, faults.CodeBadCard) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A folder that is a link out of the card.
	dir := t.TempDir()
	write(t, dir, map[string]string{"c/stem.toml": "[card]\nname='x'\n[[task]]\nname='1'\nfolder='out'\n"})
	if err := os.Symlink("/", filepath.Join(dir, "c/out")); err != nil {
		t.Fatal(err)
	}
	if _, err := Folder(filepath.Join(dir, "c")); !faults.Is(err, faults.CodeBadCard) {
		t.Errorf("%v", err)
	}
	// A stem.toml that is a link, or a folder.
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "stem.toml")); err != nil {
		t.Fatal(err)
	}
	if _, err := Folder(dir); !faults.Is(err, faults.CodeBadCard) {
		t.Errorf("%v", err)
	}
}

func TestTrust(t *testing.T) {
	ws := workspace(t)
	p, err := ws.Resolve([]string{"jump"})
	if err != nil {
		t.Fatal(err)
	}
	trust := NewTrust(filepath.Join(t.TempDir(), "state"))
	if err := trust.Check(p); !faults.Is(err, faults.CodeUntrusted) || faults.StatusOf(err) != faults.StatusRefused {
		t.Errorf("%v", err)
	}
	if got := p.Commands(); len(got) != 1 || got[0] != `"touch" "{target}/{task}x"` {
		t.Errorf("%q", got)
	}
	if err := trust.Add(p, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := trust.Check(p); err != nil {
		t.Error(err)
	}
	// What the file says now is not what was trusted.
	write(t, ws.Root, map[string]string{"asm/stem.toml": "[card]\nname='jump'\nseries='arch'\n[build]\ncommand=['rm','-rf','/']\n"})
	again, err := Folder(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := trust.Check(again); !faults.Is(err, faults.CodeUntrusted) || !strings.Contains(err.Error(), "changed") {
		t.Errorf("%v", err)
	}
	plain, err := ws.Resolve([]string{"data"})
	if err != nil {
		t.Fatal(err)
	}
	if err := trust.Check(plain); err != nil {
		t.Errorf("a file without commands: %v", err)
	}
	if err := os.WriteFile(trust.path(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := trust.Check(p); !faults.Is(err, faults.CodeBadState) {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestBuildSteps(t *testing.T) {
	ws := workspace(t)
	own, err := ws.Resolve([]string{"jump"})
	if err != nil {
		t.Fatal(err)
	}
	steps, err := own.BuildSteps(RP2350Arm, "hazard3-sim", "/usr/bin/arm-none-eabi-gcc")
	if err != nil || !steps[0].Own || !slices.Equal(steps[0].Argv, []string{"touch", "rp2350-arm/x"}) || !slices.Contains(steps[0].Env, "CROSS_COMPILE=arm-none-eabi-") {
		t.Errorf("%+v, %v", steps, err)
	}
	if got := own.Output(RP2350RV); got != filepath.Join(own.Dir, "out/rp2350-rv.elf") {
		t.Error(got)
	}
	dir := t.TempDir()
	p, err := Folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.BuildSteps(RP2350RV, "rp2350", "gcc"); !faults.Is(err, faults.CodeBadCard) {
		t.Errorf("an empty folder: %v", err)
	}
	write(t, dir, map[string]string{"Makefile": ""})
	if steps, err = p.BuildSteps(NativeAMD64, "native-amd64", "/usr/bin/clang"); err != nil || steps[0].Argv[0] != "make" || steps[0].Own || !slices.Contains(steps[0].Env, "STEM_CC=clang") {
		t.Errorf("%+v, %v", steps, err)
	}
	write(t, dir, map[string]string{"CMakeLists.txt": ""})
	if steps, err = p.BuildSteps(RP2350RV, "rp2350", "/x/riscv64-unknown-elf-gcc"); err != nil || len(steps) != 2 || !slices.Contains(steps[0].Argv, "-DPICO_PLATFORM=rp2350-riscv") {
		t.Errorf("%+v, %v", steps, err)
	}
}

func TestNew(t *testing.T) {
	for _, tpl := range Templates() {
		dir := filepath.Join(t.TempDir(), "x")
		if err := New(dir, "mine", tpl); err != nil {
			t.Fatal(err)
		}
		p, err := Folder(dir)
		if err != nil || p.Card != "mine" || len(p.Test.Expect) == 0 {
			t.Errorf("%s: %+v, %v", tpl, p, err)
		}
		if _, err := p.BuildSteps(RP2350RV, "rp2350", "riscv64-unknown-elf-gcc"); err != nil {
			t.Errorf("%s: %v", tpl, err)
		}
		if err := New(dir, "mine", tpl); err == nil {
			t.Error("made over another one")
		}
	}
	if err := New(t.TempDir()+"/x", "../x", "c"); err == nil {
		t.Error("a path was taken for a name")
	}
	if err := New(t.TempDir()+"/x", "x", "rust"); err == nil {
		t.Error("an unknown template was taken")
	}
}

// TestExamplesUseTheTemplate: the run-time files of the example cards are those
// that a new card gets.
func TestExamplesUseTheTemplate(t *testing.T) {
	entries, err := templates.ReadDir("template/stem")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		want, err := templates.ReadFile("template/stem/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", "examples", "cards", "inf", "stem", e.Name()))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s differs: copy card/template/stem to examples/cards/inf/stem (%v)", e.Name(), err)
		}
	}
}

func TestNear(t *testing.T) {
	names := []string{"bss", "data", "stack", "heap", "inf"}
	for word, want := range map[string]string{"bbs": "bss", "BSS": "bss", "dta": "data", "ifn": "inf", "st": "stack", "zzzz": ""} {
		if got := strings.Join(Near(word, names), " "); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add("[card]\nname='x'\n[[task]]\nname='1'\n")
	f.Add("[series]\nname='x'\n[build]\ncommand=['a']\n[test]\ntimeout='1s'\n")
	f.Add("[card\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := ParseFile("stem.toml", []byte(text))
		if err != nil {
			if faults.Of(err) == nil {
				t.Fatalf("%v is no fault", err)
			}
			return
		}
		for _, task := range file.Tasks {
			if task.Folder != "" && !filepath.IsLocal(task.Folder) {
				t.Fatalf("%q is taken", task.Folder)
			}
		}
	})
}
