package virtual

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/faults"
)

func TestParseFault(t *testing.T) {
	for text, want := range map[string]Fault{
		"unplug@3s":                   {Kind: FaultUnplug, At: 3 * time.Second},
		"unplug+500ms":                {Kind: FaultUnplug, For: 500 * time.Millisecond},
		"2/unplug@1m30s+2s":           {Kind: FaultUnplug, Board: 2, At: 90 * time.Second, For: 2 * time.Second},
		"power-loss:erase@5":          {Kind: FaultPowerLoss, Operation: CutErase, Count: 5, For: time.Second},
		"power-loss:program+3s":       {Kind: FaultPowerLoss, Operation: CutProgram, Count: 1, For: 3 * time.Second},
		"stuck-bit:0x10001000.5=0":    {Kind: FaultStuckBit, Addr: 0x10001000, Bit: 5},
		"stuck-bit:0x10000003.7=1@1s": {Kind: FaultStuckBit, Addr: 0x10000003, Bit: 7, Level: true, At: time.Second},
		"stall:0x84@2":                {Kind: FaultStall, Endpoint: 0x84, Count: 2},
		"stall:3":                     {Kind: FaultStall, Endpoint: 3, Count: 1},
		"slow-host":                   {Kind: FaultSlowHost, Delay: 10 * time.Millisecond},
		"slow-host:2ms@1s+1s":         {Kind: FaultSlowHost, Delay: 2 * time.Millisecond, At: time.Second, For: time.Second},
		"probe/full-fifo:0x02@1s":     {Kind: FaultFullFIFO, Probe: true, Endpoint: 2, At: time.Second},
		"full-fifo+1s":                {Kind: FaultFullFIFO, For: time.Second},
		"probe2/serial:E66@3":         {Kind: FaultSerial, Probe: true, Board: 2, Serial: "E66", Count: 3},
	} {
		got, err := ParseFault(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		again, err := ParseFault(got.String())
		if err != nil || again != got {
			t.Errorf("%s is written %s, which is %+v, %v", text, got, again, err)
		}
	}
}

func TestParseFaultErrors(t *testing.T) {
	for text, why := range map[string]string{
		"":                                   "there is no",
		"explode":                            "there is no \"explode\"",
		"unplug@":                            "something is missing",
		"unplug@soon":                        "no time",
		"unplug@-3s":                         "no time",
		"unplug:now":                         "nothing behind a colon",
		"unplug@1s+0s":                       "no time at all",
		"0/unplug":                           "no board",
		"probes/unplug":                      "no board",
		"power-loss":                         "in an erase",
		"power-loss:erase@0":                 "no number",
		"power-loss:erase@3s":                "no number",
		"probe/power-loss:erase":             "not simulated",
		"probe/stuck-bit:0x10000000.1=1":     "not simulated",
		"stuck-bit:0x20000000.1=1":           "no address of flash",
		"stuck-bit:0x10000000.8=1":           "a stuck bit is",
		"stuck-bit:0x10000000.1":             "a stuck bit is",
		"stall":                              "no endpoint",
		"stall:0x80":                         "no endpoint",
		"stall:0x41":                         "no endpoint",
		"stall:0x81+1s":                      "does not last",
		"serial:a b":                         "a serial number has",
		"serial:" + strings.Repeat("x", 300): "longer",
		"slow-host:fast":                     "no time",
	} {
		_, err := ParseFault(text)
		var f *faults.Fault
		if !errors.As(err, &f) || f.Status != faults.StatusUsage || !strings.Contains(f.Seen, why) || f.Wanted == "" || len(f.Try) == 0 {
			t.Errorf("%q: %v (%+v), want %q", text, err, f, why)
		}
	}
	if _, err := ParseFaults([]string{"unplug", "?"}); err == nil {
		t.Error("the second one is wrong")
	}
}

func TestFaultApplies(t *testing.T) {
	all, second, probes := Fault{}, Fault{Board: 2}, Fault{Probe: true}
	if !all.Applies(1, false) || all.Applies(1, true) || second.Applies(1, false) || !second.Applies(2, false) || !probes.Applies(3, true) {
		t.Error("it hits the wrong one")
	}
}

func FuzzParseFault(f *testing.F) {
	for _, s := range []string{
		"unplug@3s", "2/unplug@1m30s+2s", "power-loss:erase@5+1s", "stuck-bit:0x10001000.5=0@1s",
		"probe1/stall:0x84@2", "slow-host:2ms@1s+1s", "full-fifo:0x02", "serial:E66@3", "unplug@@", "stall:0b11",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseFault(s)
		if err != nil {
			return
		}
		again, err := ParseFault(got.String())
		if err != nil || again != got {
			t.Fatalf("%q is written %q, which is %+v, %v", s, got, again, err)
		}
	})
}
