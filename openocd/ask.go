package openocd

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/faults"
)

// Kind is whose OpenOCD it is, as far as that matters.
type Kind string

// The kinds.
const (
	// KindFork knows both architectures: Raspberry Pi's.
	KindFork Kind = "raspberry-pi"
	// KindUpstream has a configuration of the RP2350, for Arm.
	KindUpstream Kind = "upstream"
	// KindStock is a release that does not know the chip.
	KindStock Kind = "stock"
	// KindOld cannot reach the chip at all.
	KindOld Kind = "too-old"
)

// Abilities are what an OpenOCD can do.
type Abilities struct {
	Found
	Version string `json:"version"`
	Kind    Kind   `json:"kind"`
	// RISCVSWD: riscv targets take -dap. ADIv6: access ports as the chip has them.
	RISCVSWD bool `json:"riscv_over_swd"`
	ADIv6    bool `json:"adiv6"`
	// FlashDriver: the driver rp2xxx. Config: the path of its rp2350.cfg.
	FlashDriver bool   `json:"flash_driver"`
	Config      string `json:"config,omitempty"`
	// TCP: CMSIS-DAP over TCP. Bitbang: SWD over remote_bitbang.
	TCP     bool `json:"cmsis_dap_tcp"`
	Bitbang bool `json:"swd_bitbang"`
	// Adapters are the drivers of adapters.
	Adapters []string `json:"adapters"`
}

// question is what a program is asked, without any hardware: nothing in it
// initializes an adapter.
const question = `
proc tell {key body} {
	if {[catch {uplevel #0 $body} m]} { echo "stem-hw $key no" } else { echo "stem-hw $key yes" ; echo $m ; echo "stem-hw ." }
}
tell adapters {adapter list}
tell cmsisdap {adapter driver cmsis-dap}
tell swd {transport select swd}
tell tcp {cmsis-dap backend tcp}
tell config {find target/rp2350.cfg}
tell tap {swd newdap ask cpu -expected-id 0}
tell adiv6 {dap create ask.dap -adiv6 -chain-position ask.cpu}
tell cortexm {target create ask.cm cortex_m -dap ask.dap -ap-num 0x2000}
tell driver {flash bank ask.flash rp2xxx 0x10000000 0 0 0 ask.cm}
tell riscvdap {target create ask.rv riscv -dap ask.dap -ap-num 0xa000 -coreid 0}
shutdown
`

// second asks what the first cannot, since a transport is chosen once.
const second = `
if {[catch {adapter driver remote_bitbang; transport select swd}]} { echo "stem-hw bitbang no" } else { echo "stem-hw bitbang yes" }
shutdown
`

// askTime bounds an answer, maxSaid what is read of it.
const (
	askTime = 20 * time.Second
	maxSaid = 64 << 10
)

// quiet turns everything off that listens.
const quiet = "gdb_port disabled; telnet_port disabled; "

// Ask starts a program to learn what it can do.
func Ask(ctx context.Context, sup *child.Supervisor, f Found) (Abilities, error) {
	a := Abilities{Found: f}
	said, err := say(ctx, sup, f.Path, question)
	if err != nil {
		return a, err
	}
	if m := versionLine.FindStringSubmatch(said); m != nil {
		a.Version = m[1]
	}
	if a.Version == "" {
		return a, &faults.Fault{
			Code: faults.CodeMissingTool, Status: faults.StatusMissingTool,
			Summary: f.Path + " is no OpenOCD", Seen: firstLine(said), Wanted: "Open On-Chip Debugger, and its version",
			Try: []string{"sudo apt-get install openocd", "stem-hw openocd info"},
		}
	}
	told := answers(said)
	_, a.ADIv6 = told["cortexm"]
	_, a.RISCVSWD = told["riscvdap"]
	_, a.FlashDriver = told["driver"]
	_, a.TCP = told["tcp"]
	a.Config = strings.TrimSpace(told["config"])
	a.Adapters = adapterNames(told["adapters"])
	said, err = say(ctx, sup, f.Path, second)
	a.Bitbang = strings.Contains(said, "stem-hw bitbang yes")
	a.Kind = kindOf(a)
	return a, err
}

func kindOf(a Abilities) Kind {
	switch {
	case !a.ADIv6:
		return KindOld
	case a.RISCVSWD:
		return KindFork
	case a.Config != "" && a.FlashDriver:
		return KindUpstream
	}
	return KindStock
}

var (
	versionLine = regexp.MustCompile(`Open On-Chip Debugger (\S+)`)
	adapterLine = regexp.MustCompile(`^(?:\d+: )?([a-z][a-z0-9_-]*)(?: *\{.*\})?$`)
)

// say runs a script and returns all that is said.
func say(ctx context.Context, sup *child.Supervisor, program, script string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	p, err := sup.Start(ctx, child.Spec{
		Program: program, Package: "openocd", Dir: "/", Keep: maxSaid, Args: []string{"-c", quiet + "tcl_port disabled", "-c", script},
	})
	if err != nil {
		return "", err
	}
	err = p.Wait()
	var exit *child.ExitError
	if errors.As(err, &exit) {
		err = nil // what it said counts
	}
	return p.Output(), err
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if len(line) > 100 {
		line = line[:100]
	}
	return line
}

// answers are the results of what was told with yes.
func answers(said string) map[string]string {
	m := map[string]string{}
	key := ""
	for _, line := range strings.Split(said, "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) == 3 && f[0] == "stem-hw" && f[2] == "yes":
			key = f[1]
			m[key] = ""
		case len(f) >= 2 && f[0] == "stem-hw":
			key = ""
		case key != "":
			m[key] += line + "\n"
		}
	}
	return m
}

// adapterNames reads what `adapter list` says: numbered lines in releases, names
// with transports later.
func adapterNames(text string) []string {
	names := []string{}
	for _, line := range strings.Split(text, "\n") {
		if m := adapterLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			names = append(names, m[1])
		}
	}
	return names
}
