package udevrules

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/profiles"
)

func chips(t *testing.T) (out []*profiles.Chip) {
	t.Helper()
	for _, n := range profiles.Names() {
		p, err := profiles.Load(n)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, &p.Chip)
	}
	return out
}

// TestGenerated compares the rules that are installed with the profiles;
// STEM_HW_DOCS=write writes them again.
func TestGenerated(t *testing.T) {
	want := Render(chips(t)...)
	if os.Getenv("STEM_HW_DOCS") == "write" {
		if err := os.WriteFile(File, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(Text(), want) {
		t.Errorf("%s is not what the profiles say: make docs", File)
	}
}

func TestLint(t *testing.T) {
	for _, p := range Lint(File, Text()) {
		t.Error(p)
	}
}

// TestEveryIdentity: each device of a profile is let in, its ports too.
func TestEveryIdentity(t *testing.T) {
	rules := string(Text())
	for _, c := range chips(t) {
		for _, u := range c.USB {
			v, p, _ := strings.Cut(u.ID.String(), ":")
			if !strings.Contains(rules, `ATTR{idVendor}=="`+v+`", ATTR{idProduct}=="`+p+`"`) {
				t.Errorf("no rule for %s, %s", u.ID, u.Name)
			}
			if u.Role != "bootsel" && !strings.Contains(rules, `ATTRS{idVendor}=="`+v+`", ATTRS{idProduct}=="`+p+`"`) {
				t.Errorf("no rule for the port of %s, %s", u.ID, u.Name)
			}
		}
	}
	for _, want := range []string{`power/control}="on"`, "ID_MM_DEVICE_IGNORE", "ID_MM_PORT_IGNORE", `SUBSYSTEM=="hidraw"`, "SYMLINK+=", `TAG+="uaccess"`} {
		if !strings.Contains(rules, want) {
			t.Errorf("the rules lack %s", want)
		}
	}
}

// TestLintCanFail feeds what udev refuses or ignores.
func TestLintCanFail(t *testing.T) {
	for _, tt := range []struct{ name, rules, want string }{
		{"late", `TAG+="uaccess"`, "number"},
		{File, `MODE="0660" GROUP="plugdev"`, "comma"},
		{File, `MODE="0660",GROUP="plugdev"`, "comma"},
		{File, `MODE=0660`, "not KEY"},
		{File, `MODE="0660", GROUP="plugdev"`, "GROUP stands"},
		{File, `GROUP="plugdev", TAG+="uaccess"`, "TAG stands"},
		{File, `MODE="0666"`, "everybody"},
		{File, `ATTR{idVendor}=="2E8A", MODE="0660"`, "small letters"},
		{File, `GOTO="nowhere"`, "no label"},
		{File, "LABEL=\"a\"\nGOTO=\"a\"", "above"},
		{File, "LABEL=\"a\"\nLABEL=\"a\"", "twice"},
		{File, `RUN+="/bin/sh"`, "not one of"},
		{File, `PROGRAM=="/bin/sh"`, "not one of"},
		{File, `SYMLINK="x"`, "cannot be set"},
		{File, `MODE=="0660"`, "cannot be matched"},
		{File, `KERNEL+="x"`, "cannot be added"},
		{File, `MODE:="0660"`, "operator"},
	} {
		name := tt.name
		if name == "late" {
			name = "99-late.rules"
		}
		found := false
		for _, p := range Lint(name, []byte(tt.rules)) {
			found = found || strings.Contains(p.String(), tt.want)
		}
		if !found {
			t.Errorf("%s: %v, want something with %q", tt.rules, Lint(name, []byte(tt.rules)), tt.want)
		}
	}
}

// TestUdevadm asks udev itself where it has the verb (systemd 254 and later).
func TestUdevadm(t *testing.T) {
	path, err := exec.LookPath("udevadm")
	if err != nil {
		t.Skip("udevadm is not installed")
	}
	if out, err := exec.Command(path, "verify", "--help").CombinedOutput(); err != nil {
		t.Skipf("this udevadm has no verify: %s", bytes.TrimSpace(out))
	}
	out, err := exec.Command(path, "verify", "--resolve-names=late", File).CombinedOutput()
	if err != nil {
		t.Errorf("udevadm verify: %v\n%s", err, out)
	}
}

func FuzzLint(f *testing.F) {
	f.Add(string(Text()))
	f.Add(`A{b}=="\"", LABEL="x`)
	f.Fuzz(func(_ *testing.T, s string) { Lint(File, []byte(s)) })
}
