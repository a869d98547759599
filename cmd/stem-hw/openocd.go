package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/openocd"
	"github.com/stem-hw/stem-hw/ui"
)

func (a *app) openocdCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "openocd",
		Short:   "the OpenOCDs of this machine, their configuration, their commands",
		GroupID: groupDebug,
		Long: `Openocd shows the OpenOCDs of this machine, writes a configuration for one, and runs
one. The verbs flash, verify, save, erase, reset, info, run, debug, gdbserver and
console use one with --via openocd.

They are looked for on the PATH, in ~/.pico-sdk, in /opt and in $OPENOCD, which is
used before all others.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.openocdInfoCmd(), a.openocdConfigCmd(), a.openocdRunCmd())
	return cmd
}

// openocdInfo is what the OpenOCDs of the machine can do.
type openocdInfo struct {
	OpenOCDs []openocd.Abilities `json:"openocds"`
	// Arm and RISCV are the paths of those that --via openocd takes for a probe on
	// the USB; RISCV is empty where stem-hw has to present the cores as JTAG.
	Arm   string `json:"arm"`
	RISCV string `json:"riscv"`
	// WhyNot says why there is none for Hazard3 through SWD.
	WhyNot []string `json:"why_not,omitempty"`
}

func (openocdInfo) Kind() string { return "openocd-info" }

// yes is a cell.
func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func (r openocdInfo) Text(t *ui.Text) {
	t.Head("OPENOCD", "VERSION", "KIND", "ARM", "RISC-V", "FLASH DRIVER", "DAP OVER TCP", "SWD BITBANG")
	for _, o := range r.OpenOCDs {
		t.Row(o.Path, o.Version, string(o.Kind), yes(o.ADIv6), yes(o.RISCVSWD), yes(o.FlashDriver), yes(o.TCP), yes(o.Bitbang))
	}
	if r.Arm != "" {
		t.Linef("for Arm: %s", r.Arm)
	}
	if r.RISCV != "" {
		t.Linef("for RISC-V: %s", r.RISCV)
	} else if r.Arm != "" {
		t.Linef("for RISC-V: none through SWD; stem-hw's own engine (--via probe), or --via openocd with the cores presented as JTAG")
		for _, w := range r.WhyNot {
			t.Linef("  %s", w)
		}
	}
}

func (a *app) openocdInfoCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "info",
		Short: "list the OpenOCDs and what each can do, without touching hardware",
		Example: `  stem-hw openocd info
  OPENOCD=/opt/openocd/bin/openocd stem-hw openocd info --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := a.askOpenOCDs(cmd.Context())
			if err != nil {
				return err
			}
			r := openocdInfo{OpenOCDs: all}
			usb := openocd.Adapter{Kind: openocd.USB}
			with, err := openocd.Choose(all, image.ArchARM, usb)
			if len(all) == 0 {
				return err
			}
			r.Arm = with.Path
			if with, err = openocd.Choose(all, image.ArchRISCV, usb); err == nil {
				r.RISCV = with.Path
			} else if f := faults.Of(err); f != nil {
				r.WhyNot = f.Details
			}
			return a.ui.Result(r)
		},
	}
}

// openocdConfig is a configuration.
type openocdConfig struct {
	OpenOCD string `json:"openocd"`
	Config  string `json:"config"`
}

func (openocdConfig) Kind() string { return "openocd-config" }

func (r openocdConfig) Text(t *ui.Text) { t.Linef("%s", strings.TrimSuffix(r.Config, "\n")) }

// openocdFlags are the options of config and run.
type openocdFlags struct {
	probeFlags
	arch string
}

func (f *openocdFlags) add(cmd *cobra.Command, a *app, arch string, archs ...string) {
	fl := cmd.Flags()
	fl.StringVar(&f.probe, "probe", "", "the debug `PROBE`: as for -b, or tcp:HOST:PORT, swd:HOST:PORT, jtag:HOST:PORT")
	fl.Uint32Var(&f.clock, "clock", probeClock, "clock of the wires in `KHZ`")
	choiceFlag(cmd, &f.arch, "arch", arch, "the `ARCHITECTURE`: "+strings.Join(archs, ", "), archs...)
	_ = cmd.RegisterFlagCompletionFunc("probe", a.completeProbes)
}

// way is the way that the flags mean.
func (a *app) openocdWay(ctx context.Context, f *openocdFlags, verb string) (*probeWay, error) {
	command := "stem-hw openocd " + verb + " --probe %s"
	kind, address, ok, err := addressed(f.probe, viaOpenOCD)
	switch {
	case err != nil:
		return nil, err
	case ok:
		return &probeWay{f: &f.probeFlags, address: address, kind: kind, how: howNamed, openocd: true}, nil
	}
	var w *probeWay
	if f.probe != "" {
		w, err = a.namedProbe(ctx, &f.probeFlags, f.probe, command)
	} else {
		w, err = a.onlyProbe(ctx, &f.probeFlags, command)
	}
	if err == nil && w != nil {
		w.openocd = true
	}
	return w, err
}

func (a *app) openocdConfigCmd() *cobra.Command {
	var f openocdFlags
	cmd := &cobra.Command{
		Use:   "config",
		Short: "write a configuration of OpenOCD for a probe and an architecture",
		Long: `Config writes a configuration for the OpenOCD that suits the architecture: the probe
by its exact serial number, the clock, the cores as a group. Without --probe it is
for the pinned probe, or the only one there is; where there is none, for any.`,
		Example: `  stem-hw openocd config > board.cfg && openocd -f board.cfg
  stem-hw openocd config --arch riscv --probe tcp:127.0.0.1:4441`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			all, err := a.askOpenOCDs(ctx)
			if err != nil {
				return err
			}
			ad := openocd.Adapter{Kind: openocd.USB}
			w, err := a.openocdWay(ctx, &f, "config")
			if f.probe == "" && (faults.Is(err, faults.CodeBoardNotFound) || faults.Is(err, faults.CodeNoUSB)) {
				w, err = nil, nil
				a.ui.Note("there is no probe: the configuration takes any")
			}
			if err != nil {
				return err
			}
			if w != nil {
				if ad, err = w.adapter(); err != nil {
					return err
				}
			}
			with, err := openocd.Choose(all, openocdArch(f.arch), ad)
			if err != nil {
				return err
			}
			return a.ui.Result(openocdConfig{with.Path, openocd.Text(openocd.Setup{
				With: with, Adapter: ad, Arch: openocdArch(f.arch), Clock: f.clock,
			})})
		},
	}
	f.add(cmd, a, "arm", "arm", "riscv")
	return cmd
}

// openocdResult is the result of a command.
type openocdResult struct {
	Command string `json:"command"`
	Result  string `json:"result"`
}

func (openocdResult) Kind() string { return "openocd-result" }

func (r openocdResult) Text(t *ui.Text) {
	if r.Result != "" {
		t.Linef("%s", r.Result)
	}
}

func (a *app) openocdRunCmd() *cobra.Command {
	var f openocdFlags
	cmd := &cobra.Command{
		Use:   "run [COMMAND]...",
		Short: "run OpenOCD on the chip behind a probe, and commands of OpenOCD in it",
		Long: `Run starts OpenOCD for the chip behind a probe, with both cores as a group, and
executes commands in it: those of the command line, or one a line of standard
input. What OpenOCD says goes to standard error, results to standard output. The
first command that fails ends it, with an exit status for what went wrong.

OpenOCD listens nowhere: no other account, and no other program, reaches it. For
gdb there is: stem-hw gdbserver --via openocd, or stem-hw debug --via openocd.`,
		Example: `  stem-hw openocd run "reset halt" "reg pc"
  echo "flash banks" | stem-hw openocd run --probe E6614`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.openocdRun(cmd.Context(), args, &f) },
	}
	f.add(cmd, a, "auto", "auto", "arm", "riscv")
	cmd.Flags().DurationVar(&f.wait, "wait", 0, "wait up to this `TIME` for a probe that is in use")
	return cmd
}

func (a *app) openocdRun(ctx context.Context, commands []string, f *openocdFlags) (err error) {
	w, err := a.openocdWay(ctx, f, "run")
	if err != nil {
		return err
	}
	var undo []func() error
	defer func() {
		for i := len(undo) - 1; i >= 0; i-- {
			err = errors.Join(err, undo[i]())
		}
	}()
	way, err := a.connectOpenOCD(ctx, w, "openocd", openocd.Options{
		Group: true, Log: func(line string) { a.ui.Say("openocd: %s", line) },
	}, &undo)
	if err != nil {
		return err
	}
	undo = append(undo, way.Close)
	_, arch, err := way.Examine(ctx)
	if err != nil {
		return way.Explain(err)
	}
	if f.arch != "auto" && openocdArch(f.arch) != arch[0] {
		return &faults.Fault{
			Code: faults.CodeTargetFailed, Status: faults.StatusTarget, Summary: "the cores are not of this architecture",
			Seen: string(arch[0]), Wanted: f.arch, Try: []string{"stem-hw reset --arch " + f.arch + " --halt --via openocd"},
		}
	}
	a.ui.Note("%s, version %s, on the %s cores", way.With().Path, way.With().Version, arch[0])
	one := func(command string) error {
		text, err := way.Process().Do(ctx, command)
		if err != nil {
			return way.Explain(err)
		}
		return a.ui.Event(openocdResult{command, text})
	}
	for _, c := range commands {
		if err := one(c); err != nil {
			return err
		}
	}
	if len(commands) > 0 || a.streams.In == nil {
		return nil
	}
	return a.openocdLines(ctx, one)
}

// openocdLines executes what comes on standard input until it ends, or says exit.
func (a *app) openocdLines(ctx context.Context, one func(string) error) error {
	lines := make(chan string)
	go func() {
		defer close(lines)
		s := bufio.NewScanner(a.streams.In)
		for s.Scan() {
			select {
			case lines <- strings.TrimSpace(s.Text()):
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line, ok := <-lines:
			switch {
			case !ok, line == "exit", line == "shutdown":
				return nil
			case line == "":
				continue
			}
			err := one(line)
			if err != nil && a.streams.InTTY && !faults.Is(err, faults.CodeLost) {
				a.ui.Warn("%v", err)
				continue
			}
			if err != nil {
				return fmt.Errorf("line %q: %w", line, err)
			}
		}
	}
}
