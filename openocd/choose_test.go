package openocd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
)

var (
	bothDrivers = []string{"cmsis-dap", "remote_bitbang"}
	stock       = Abilities{Found: Found{"/usr/bin/openocd", "PATH"}, Version: "0.12.0", Kind: KindStock, ADIv6: true, Adapters: bothDrivers}
	upstream    = Abilities{Found: Found{"/opt/up", "/opt"}, Kind: KindUpstream, ADIv6: true, FlashDriver: true, Config: "c", TCP: true, Bitbang: true, Adapters: bothDrivers}
	fork        = Abilities{Found: Found{"/opt/rpi", "/opt"}, Kind: KindFork, ADIv6: true, RISCVSWD: true, FlashDriver: true, Config: "c", Bitbang: true, Adapters: bothDrivers}
	old         = Abilities{Found: Found{"/old", "PATH"}, Version: "0.11.0", Kind: KindOld, Adapters: bothDrivers}
)

func TestChoose(t *testing.T) {
	named := upstream
	named.Where = "$OPENOCD"
	for name, c := range map[string]struct {
		all  []Abilities
		arch image.Arch
		kind AdapterKind
		want string
	}{
		"the fork for Arm":              {[]Abilities{stock, upstream, fork}, image.ArchARM, USB, fork.Path},
		"the fork for RISC-V":           {[]Abilities{stock, upstream, fork}, image.ArchRISCV, USB, fork.Path},
		"upstream for Arm":              {[]Abilities{stock, upstream}, image.ArchARM, USB, upstream.Path},
		"stock for Arm":                 {[]Abilities{stock}, image.ArchARM, USB, stock.Path},
		"none for RISC-V":               {[]Abilities{stock, upstream}, image.ArchRISCV, USB, ""},
		"stock over JTAG":               {[]Abilities{stock}, image.ArchRISCV, JTAGBitbang, stock.Path},
		"upstream over TCP":             {[]Abilities{stock, upstream, fork}, image.ArchARM, TCP, upstream.Path},
		"no Arm over JTAG":              {[]Abilities{fork}, image.ArchARM, JTAGBitbang, ""},
		"too old":                       {[]Abilities{old}, image.ArchARM, USB, ""},
		"none":                          {nil, image.ArchARM, USB, ""},
		"what is named is taken":        {[]Abilities{fork, named}, image.ArchARM, USB, upstream.Path},
		"what is named is not replaced": {[]Abilities{fork, named}, image.ArchRISCV, USB, ""},
	} {
		got, err := Choose(c.all, c.arch, Adapter{Kind: c.kind})
		if got.Path != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v", name, got.Path, err)
		}
	}
	_, err := Choose([]Abilities{stock}, image.ArchRISCV, Adapter{Kind: USB})
	f := faults.Of(err)
	if f == nil || !strings.Contains(strings.Join(f.Details, ""), "take no -dap") || !strings.Contains(strings.Join(f.Try, ""), "--via probe") {
		t.Errorf("why Hazard3 does not go is told as %+v", f)
	}
}

func TestConfig(t *testing.T) {
	for name, c := range map[string]struct {
		s         Setup
		want, not []string
	}{
		"stock, Arm": {
			Setup{With: stock, Adapter: Adapter{Kind: USB, Serial: `E66"[exit]`}, Arch: image.ArchARM, Clock: 5000},
			[]string{`adapter serial "E66\"\[exit\]"`, "dap create rp2350.dap -adiv6", "cortex_m -dap rp2350.dap -ap-num 0x4000", "target smp rp2350.cm0 rp2350.cm1", "adapter speed 5000"},
			[]string{"rp2350.cfg"},
		},
		"the fork, RISC-V": {
			Setup{With: fork, Adapter: Adapter{Kind: USB}, Arch: image.ArchRISCV, Clock: 1000, Apart: true},
			[]string{"set USE_CORE {rv0 rv1}", "set USE_SMP 0", "source [find target/rp2350.cfg]"}, []string{"adapter serial"},
		},
		"upstream over TCP": {
			Setup{With: upstream, Adapter: Adapter{Kind: TCP, Host: "127.0.0.1", Port: "4441"}, Arch: image.ArchARM},
			[]string{"cmsis-dap backend tcp", "cmsis-dap tcp port 4441", "set USE_CORE {cm0 cm1}"}, []string{"USE_SMP"},
		},
		"a socket": {
			Setup{With: stock, Adapter: Adapter{Kind: JTAGBitbang, Host: "/run/d/jtag"}, Arch: image.ArchRISCV},
			[]string{"remote_bitbang host /run/d/jtag", "remote_bitbang port 0", "-irlen 5"}, []string{"swd"},
		},
	} {
		text := Text(c.s)
		for _, w := range c.want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: no %q in\n%s", name, w, text)
			}
		}
		for _, w := range c.not {
			if strings.Contains(text, w) {
				t.Errorf("%s: %q in\n%s", name, w, text)
			}
		}
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	program := func(path string) string {
		t.Helper()
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, nil, 0o700); err != nil { //nolint:gosec // a program has to be executable
			t.Fatal(err)
		}
		return full
	}
	a, b := program("bin/openocd"), program("home/.pico-sdk/openocd/0.12.0+dev/openocd")
	c, d := program("opt/openocd-x/bin/openocd"), program("named")
	if err := os.Symlink(a, filepath.Join(root, "openocd")); err != nil {
		t.Fatal(err)
	}
	got := Find(Places{Named: d, Path: filepath.Join(root, "bin") + ":.:" + root, Home: filepath.Join(root, "home"), Opt: filepath.Join(root, "opt")})
	want := []Found{{d, "$OPENOCD"}, {a, "PATH"}, {b, "~/.pico-sdk"}, {c, filepath.Join(root, "opt")}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestAdapterNames(t *testing.T) {
	for _, text := range []string{
		"The following debug adapters are available:\n1: parport\n24: cmsis-dap\n\n",
		"parport        { jtag }\ncmsis-dap      { jtag swd }\n",
	} {
		if got := adapterNames(text); !slices.Equal(got, []string{"parport", "cmsis-dap"}) {
			t.Errorf("%q gives %q", text, got)
		}
	}
}
