package debugport_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A transcript is what an OpenOCD said of the simulated board (make judges with
// TRANSCRIPTS=folder): NAME_WAY_ARCH_WHAT.txt. The table of docs/debug-port.md
// is made of them.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	// What has to be in them, by WHAT.
	says := map[string]string{
		"attach": "RESULT", "step": "PC 0x2004000", "flash": "VERIFIED", "run": "RUNS 1",
		"dead": "cannot read IDR", "no-power": "cannot read IDR", "no-power-up": "SWD DPIDR 0x4c013477",
		"wrong-chip": "SWD DPIDR 0x0bc12477", "memory-faults": "Failed to read memory at 0xe000ed00",
		"locked": "Failed to read memory at 0xe000ed00", "secure-locked": "Failed to read memory at 0xe000ed00",
		"wait": "Examination failed", "parity": "", "floating": "", "vanish": "Error",
	}
	local := regexp.MustCompile(`(^|\s)/\w+|127\.0\.0\.1:\d`)
	var names []string
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.Split(strings.TrimSuffix(filepath.Base(path), ".txt"), "_")
		if len(name) != 4 {
			t.Fatalf("%s is not NAME_WAY_ARCH_WHAT", path)
		}
		want, known := says[name[3]]
		if !known || !strings.Contains(string(data), want) {
			t.Errorf("%s does not say %q", path, want)
		}
		if m := local.Find(data); m != nil {
			t.Errorf("%s tells of the machine it was made on: %q", path, m)
		}
		if name[3] == "flash" {
			names = append(names, strings.Join(name[:3], " "))
		}
	}
	for _, who := range []string{
		"openocd-upstream swd-bitbang arm", "openocd-upstream dap-tcp arm", "openocd-upstream jtag-bitbang riscv",
		"openocd-rpi swd-bitbang arm", "openocd-rpi swd-bitbang riscv", "openocd-rpi jtag-bitbang riscv",
	} {
		if !slices.Contains(names, who) {
			t.Errorf("there is no transcript of %s flashing", who)
		}
	}
}
