package profiles

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/faults"
)

func file(text string) Overlay { return Overlay{Path: "stem-hw.toml", Text: []byte(text)} }

func TestBuiltins(t *testing.T) {
	for _, name := range Names() {
		p, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Chip.Name != name || p.Chip.Title == "" || p.Chip.Machine == "" || len(p.Chip.Arch) == 0 || p.Board.Name == "" {
			t.Errorf("%s is incomplete: %+v", name, p)
		}
		var end uint64
		for _, r := range p.Chip.Memory {
			if uint64(r.Base) < end || r.Size == 0 {
				t.Errorf("%s: region %s overlaps or is empty", name, r.Name)
			}
			end = uint64(r.Base) + uint64(r.Size)
		}
	}
	entries, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(Names()) {
		t.Errorf("%d files embedded, %d names", len(entries), len(Names()))
	}
}

// TestRP2350Facts holds the profile against the datasheet (2.2 memory map; 5.5
// UF2 families) and the numbers of the boot ROM's USB device.
func TestRP2350Facts(t *testing.T) {
	p, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	if p.Chip.Name != RP2350 {
		t.Fatalf("default is %s", p.Chip.Name)
	}
	want := map[string]Region{
		"flash": {Name: "flash", Kind: "flash", Base: 0x10000000, Size: 16 << 20, Sector: 4096},
		"sram":  {Name: "sram", Kind: "ram", Base: 0x20000000, Size: 0x82000},
		"rom":   {Name: "rom", Kind: "rom", Base: 0, Size: 0x8000},
	}
	for _, r := range p.Chip.Memory {
		if want[r.Name] != r {
			t.Errorf("region %+v", r)
		}
		delete(want, r.Name)
	}
	if len(want) != 0 {
		t.Errorf("missing regions %v", want)
	}
	if p.Chip.UF2["rp2350-riscv"] != 0xe48bff5a || p.Chip.UF2["rp2350-arm-s"] != 0xe48bff59 {
		t.Errorf("families %#x", p.Chip.UF2)
	}
	if u := p.Chip.USB[0]; u.ID != (USBID{0x2e8a, 0x000f}) || u.Role != "bootsel" || u.ID.String() != "2e8a:000f" {
		t.Errorf("USB %+v", u)
	}
	if p.Console.Baud != 115200 || !p.Console.DTR || !p.Flash.Verify || p.Debug.SWDKHz != 5000 || p.Board.LED != 25 {
		t.Errorf("settings %+v", p.Settings)
	}
}

func TestMerge(t *testing.T) {
	project := file("profile = \"rp2350\"\n[console]\nbaud = 9600\ndtr = false\n[run]\ntimeout = \"1m30s\"\n[flash]\nsize = \"16 MiB\"\n")
	local := Overlay{Path: LocalFile, Text: []byte("[console]\nbaud = 57600\n")}
	p, err := Load("", project, local)
	if err != nil {
		t.Fatal(err)
	}
	if p.Console.Baud != 57600 {
		t.Errorf("the local file does not win: %d baud", p.Console.Baud)
	}
	if p.Console.DTR || p.Flash.Size != 16<<20 || p.Run.Timeout.Duration != 90*time.Second {
		t.Errorf("the project's values are lost: %+v", p.Settings)
	}
	if p.Console.Parity != "none" || !p.Console.Reconnect || !p.Flash.Verify {
		t.Errorf("the profile's values are lost: %+v", p.Settings)
	}
}

func TestWhoChooses(t *testing.T) {
	project, local := file("profile = \"native-amd64\""), Overlay{Path: LocalFile, Text: []byte("profile = \"hazard3-sim\"")}
	for _, tt := range []struct {
		asked    string
		overlays []Overlay
		want     string
	}{
		{"", nil, RP2350},
		{"", []Overlay{project}, NativeAMD64},
		{"", []Overlay{project, local}, Hazard3Sim},
		{RP2350, []Overlay{project, local}, RP2350},
	} {
		p, err := Load(tt.asked, tt.overlays...)
		if err != nil {
			t.Fatal(err)
		}
		if p.Chip.Name != tt.want {
			t.Errorf("asked %q with %d files: %s, want %s", tt.asked, len(tt.overlays), p.Chip.Name, tt.want)
		}
	}
}

func TestFaults(t *testing.T) {
	tests := []struct{ name, text, want, try string }{
		{"syntax", "[console]\nbaud = = 3\n", "stem-hw.toml:2:8: ", ""},
		{"open table", "[console\n", "stem-hw.toml:1:", ""},
		{"twice", "[console]\nbaud = 1\nbaud = 2\n", "stem-hw.toml:", ""},
		{"unknown table", "[consol]\nbaud = 1\n", "stem-hw.toml:1:2: there is no key consol", "console"},
		{"unknown key", "[console]\n  buad = 1\n", "stem-hw.toml:2:3: there is no key console.buad", "console.baud"},
		{"dotted key", "console.parit = \"none\"\n", "stem-hw.toml:1:1: there is no key console.parit", "console.parity"},
		{"key of another table", "[console]\nswd_khz = 1\n", "there is no key console.swd_khz", "debug.swd_khz"},
		{"nothing near", "[console]\nelephants = 1\n", "there is no key console.elephants (there are baud, ", ""},
		{"at the top", "baud = 1\n", "stem-hw.toml:1:1: there is no key baud", "console.baud"},
		{"fixed part", "[chip]\nname = \"x\"\n", "stem-hw.toml:1:2: chip belongs to the profile itself", ""},
		{"text for a number", "[console]\nbaud = \"fast\"\n", "stem-hw.toml:2:8: console.baud must be a whole number", ""},
		{"number for a text", "[run]\nspeed = 3\n", "stem-hw.toml:2:9: run.speed must be a text in quotes", ""},
		{"number for a truth", "[flash]\nverify = 1\n", "stem-hw.toml:2:10: flash.verify must be true or false", ""},
		{"value for a table", "console = 1\n", "stem-hw.toml:1:11: console must be a table", ""},
		{"bad size", "[flash]\nsize = \"4 MB\"\n", `stem-hw.toml:2:8: flash.size: "4 MB" is not a size`, ""},
		{"size of another type", "[flash]\nsize = true\n", "stem-hw.toml:2:1: flash.size must be a size", ""},
		{"time without a unit", "[run]\ntimeout = 30\n", "stem-hw.toml:2:1: run.timeout must be a time in quotes", ""},
		{"bad time", "[run]\ntimeout = \"soon\"\n", `"soon" is not a time`, ""},
		{"out of range", "[console]\n\nbaud = 0\n", "stem-hw.toml:3:1: console.baud: 0 is out of range", ""},
		{"bad word", "[console]\nparity = \"evne\"\n", `stem-hw.toml:2:1: console.parity: "evne" is not one of none, even, odd`, `console.parity = "even"`},
		{"too much flash", "[flash]\nsize = \"32 MiB\"\n", "flash.size: 32 MiB is not a whole number of sectors (4 KiB) up to 16 MiB", ""},
		{"no whole sectors", "[flash]\nsize = \"5000 B\"\n", "flash.size: 5000 B is not", ""},
		{"flash where none is", "profile = \"native-amd64\"\n[flash]\nsize = \"4 MiB\"\n", "has no flash", ""},
		{"unknown profile", "\nprofile = \"rp2530\"\n", `stem-hw.toml:2:1: there is no profile "rp2530"`, `profile = "rp2350"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load("", file(tt.text))
			f := faults.Of(err)
			if f == nil || f.Code != faults.CodeBadProfile || f.Status != faults.StatusUsage {
				t.Fatalf("got %v", err)
			}
			if !strings.Contains(f.Error(), tt.want) {
				t.Errorf("got  %q\nwant %q", f.Error(), tt.want)
			}
			if got := strings.Join(f.Try, "; "); got != tt.try {
				t.Errorf("suggests %q, want %q", got, tt.try)
			}
		})
	}
}

func TestSecondFileIsNamed(t *testing.T) {
	_, err := Load("", file("[console]\nbaud = 9600\n"), Overlay{Path: "/home/x/" + LocalFile, Text: []byte("[debug]\nswd_khz = 0\n")})
	if err == nil || !strings.Contains(err.Error(), "/home/x/"+LocalFile+":2:1: debug.swd_khz") {
		t.Errorf("got %v", err)
	}
}

func TestUnknownName(t *testing.T) {
	if _, err := Load("rp2040"); faults.StatusOf(err) != faults.StatusUsage {
		t.Errorf("got %v", err)
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "project", "src", "deep")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("stem-hw.toml", "[console]\nbaud = 1\n")
	if err := os.Mkdir(filepath.Join(root, "project", ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := Find(deep); err != nil || len(got) != 0 {
		t.Errorf("went past the project's top: %v, %v", got, err)
	}
	write("project/stem-hw.toml", "[console]\nbaud = 2\n")
	write("project/stem-hw.local.toml", "[console]\nbaud = 3\n")
	got, err := Find(deep)
	if err != nil || len(got) != 2 || filepath.Base(got[1].Path) != LocalFile {
		t.Fatalf("found %v, %v", got, err)
	}
	if p, err := Load("", got...); err != nil || p.Console.Baud != 3 {
		t.Errorf("%+v, %v", p, err)
	}
	if err := os.Remove(filepath.Join(root, "project", LocalFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(root, "project", LocalFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(deep); !faults.Is(err, faults.CodeBadProfile) {
		t.Errorf("a device as settings: %v", err)
	}
}

func TestUnits(t *testing.T) {
	for in, want := range map[string]Size{"0 B": 0, "4096": 4096, "4096 B": 4096, "4KiB": 4096, " 2 MiB ": 2 << 20, "3 GiB": 3 << 30} {
		var s Size
		if err := s.UnmarshalText([]byte(in)); err != nil || s != want {
			t.Errorf("%q = %d, %v", in, s, err)
		}
		var again Size
		if err := again.UnmarshalText([]byte(s.String())); err != nil || again != s {
			t.Errorf("%q is written as %q", in, s)
		}
	}
	for _, in := range []string{"", "4 GiB", "-1", "4.5 MiB", "MiB", "4 MiB B", "99999999999999999999"} {
		var s Size
		if err := s.UnmarshalText([]byte(in)); err == nil {
			t.Errorf("%q became %d", in, s)
		}
	}
	for _, in := range []string{"2e8a", "2e8a:f", "xxxx:0001", "2e8a:000f:1"} {
		var u USBID
		if err := u.UnmarshalText([]byte(in)); err == nil {
			t.Errorf("%q became %s", in, u)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"buad", "baud", 1}, {"baud", "bad", 1}, {"a", "", 1}, {"kitten", "sitting", 3}, {"rp2530", "rp2350", 1}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := distance(tt.b, tt.a); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("profile = \"rp2350\"\n[console]\nbaud = 9600\n")
	f.Add("[flash]\nsize = \"4 MiB\"\n[run]\ntimeout = \"3s\"\n")
	f.Add("console = { baud = 1, parity = \"even\" }\n")
	f.Add("console.baud.x = 1\n[[console]]\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Load("", file(text))
		if err != nil {
			if f := faults.Of(err); f == nil || f.Code != faults.CodeBadProfile || !strings.HasPrefix(f.Summary, "stem-hw.toml:") {
				t.Fatalf("no fault with a place: %v", err)
			}
			return
		}
		if key, err := p.check(&p.Chip); err != nil {
			t.Fatalf("accepted %s: %v", key, err)
		}
	})
}
