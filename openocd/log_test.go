package openocd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
)

// troubles are what each trouble of a simulated board is to a person; several
// where OpenOCD's word for it depends on the moment.
var troubles = map[string][]faults.Code{
	"dead":          {faults.CodeNoTarget},
	"no-power":      {faults.CodeNoTarget},
	"floating":      {faults.CodeNoTarget, faults.CodeBadWires},
	"wrong-chip":    {faults.CodeWrongChip},
	"wait":          {faults.CodeTargetFailed, faults.CodeCoreStuck},
	"memory-faults": {faults.CodeLocked},
	"parity":        {faults.CodeBadWires, faults.CodeTargetFailed, faults.CodeLocked},
	"locked":        {faults.CodeLocked},
	"secure-locked": {faults.CodeLocked},
	"vanish":        {faults.CodeLost},
}

// TestTranscripts: what OpenOCDs said of each trouble on the simulated debug port
// becomes a fault with its cause and a command to try.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("../sim/debugport/testdata/transcripts/*.txt")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d transcripts, %v", len(files), err)
	}
	seen := map[string]bool{}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		trouble := name[strings.LastIndex(name, "_")+1:]
		f := Explain(strings.Split(string(data), "\n"))
		want, bad := troubles[trouble]
		switch {
		case trouble == "no-power-up":
			// OpenOCD says nothing: who uses it finds that the cores are not there.
			seen[trouble] = true
		case !bad:
			if f != nil {
				t.Errorf("%s went well, and is told as %q (%s)", name, f.Summary, f.Seen)
			}
		case f == nil:
			t.Errorf("%s: no fault", name)
		default:
			seen[trouble] = true
			ok := false
			for _, c := range want {
				ok = ok || f.Code == c
			}
			if !ok || f.Status == faults.StatusOK || len(f.Try) == 0 || !strings.HasPrefix(f.Seen, "OpenOCD says: ") {
				t.Errorf("%s: %s: %s (%s), try %q; want one of %v", name, f.Code, f.Summary, f.Seen, f.Try, want)
			}
		}
	}
	for trouble := range troubles {
		if !seen[trouble] {
			t.Errorf("no transcript of %s", trouble)
		}
	}
}

// TestMessages: what the other versions, ways and states of a machine say.
func TestMessages(t *testing.T) {
	for line, want := range map[string]faults.Code{
		"Error: unable to find a matching CMSIS-DAP device":                       faults.CodeBoardNotFound,
		"Warn : could not claim interface: LIBUSB_ERROR_BUSY":                     faults.CodeBusy,
		"Error: CMSIS-DAP command CMD_INFO failed.":                               faults.CodeLost,
		"Error: Failed to connect multidrop":                                      faults.CodeNoTarget,
		"Error: JTAG scan chain interrogation failed: all ones":                   faults.CodeNoTarget,
		"Error: rp2350.rv: IR capture error; saw 0x1f not 0x01":                   faults.CodeBadWires,
		"Fatal: Hart 0 failed to halt during examine()":                           faults.CodeTargetFailed,
		"Info : [rp2350.cm0] become unavailable":                                  faults.CodeTargetFailed,
		"Unknown param: -dap, try one of: -type, -event":                          faults.CodeMissingTool,
		"Error: flash driver 'rp2xxx' not found":                                  faults.CodeMissingTool,
		"Can't find target/rp2350.cfg":                                            faults.CodeMissingTool,
		"Error: couldn't bind tcl to socket on port 6666: Address already in use": faults.CodeBusy,
		"Error: checksum mismatch - attempting binary compare":                    faults.CodeVerify,
		"Error: Unknown SYSINFO CHIP_ID 0x12345678":                               faults.CodeWrongChip,
		"Error: Failed to invoke rcp_init":                                        faults.CodeWriteFailed,
		"Error: timed out while waiting for target halted":                        faults.CodeCoreStuck,
		"Warn : ACCESSCTRL is locked, so can't reset permissions.":                faults.CodeLocked,
		"Error: [rp2350.cm0] Examination failed":                                  faults.CodeTargetFailed,
		"Error: Debug Module did not become active. dmcontrol=0x0":                faults.CodeLocked,
		"couldn't open nowhere.elf":                                               faults.CodeFileAccess,
	} {
		f := Explain([]string{"Info : clock speed 5000 kHz", line})
		if f == nil || f.Code != want || len(f.Try) == 0 {
			t.Errorf("%q becomes %+v, want %s", line, f, want)
		}
	}
	if f := Explain([]string{"Info : SWD DPIDR 0x4c013477", "Info : [rp2350.cm0] Examination succeed"}); f != nil {
		t.Errorf("success is told as %q", f.Summary)
	}
}
