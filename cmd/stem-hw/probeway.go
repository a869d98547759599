package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/openocd"
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/probe/dap"
	"github.com/stem-hw/stem-hw/usb"
	usbdap "github.com/stem-hw/stem-hw/usb/dap"
)

// viaProbe is the word of --via for a debug probe.
const viaProbe = "probe"

// probeFlags are the options of verbs that can reach a chip through a debug
// probe.
type probeFlags struct {
	probe  string
	clock  uint32
	record string
	log    []string
	// wait is the verb's own --wait.
	wait time.Duration
}

// probeVerb is a verb as it is done through a probe. Its own flags are those of
// cmd. Nil is a verb that looks at app.probe by itself.
type probeVerb func(ctx context.Context, cmd *cobra.Command, args []string, w *probeWay) error

// probeWay is the way to a chip that a verb was told to take.
type probeWay struct {
	f *probeFlags
	// chosen is the probe on the USB; its Serial is empty for one over TCP.
	chosen  chosen
	address string
	// kind is how OpenOCD reaches an address; openocd says that it is to.
	kind    openocd.AdapterKind
	openocd bool
	// device is the probe that a lease is held on for OpenOCD.
	device usb.Device
	how    string
}

// name is the probe for messages and results.
func (w *probeWay) name() string {
	if w.address != "" {
		return string(w.kind) + ":" + w.address
	}
	return w.chosen.Selector()
}

// throughProbe gives a verb the options of a probe, and lets do take its place
// when one is to be used.
func (a *app) throughProbe(cmd *cobra.Command, do probeVerb) {
	f := &probeFlags{}
	fl := cmd.Flags()
	fl.StringVar(&f.probe, "probe", "", "reach the chip through this debug `PROBE`: as for -b, or tcp:HOST:PORT")
	fl.Uint32Var(&f.clock, "clock", probeClock, "clock of the probe's wires in `KHZ`; it goes down by itself where the wires are bad")
	fl.StringVar(&f.record, "dap-record", "", "record everything that passes between here and the probe in `FILE`")
	if fl.Lookup("log") == nil && cmd.Name() != "console" {
		fl.StringArrayVar(&f.log, "log", nil, "log a wire `LAYER` to standard error: dap, openocd")
	}
	if via := fl.Lookup("via"); via == nil {
		var word string
		choiceFlag(cmd, &word, "via", "auto", "the `WAY` to the chip: auto, probe, openocd", "auto", viaProbe, viaOpenOCD)
	} else if o, ok := via.Value.(oneOf); ok {
		o.choices = append(o.choices, viaProbe, viaOpenOCD)
		via.Value = o
	}
	_ = cmd.RegisterFlagCompletionFunc("probe", a.completeProbes)
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		w, err := a.wayOf(cmd.Context(), cmd, args, f)
		if err != nil {
			return err
		}
		if w != nil && cmd.Flags().Lookup("via").Value.String() == viaOpenOCD {
			w.openocd = true
		}
		if w == nil {
			return run(cmd, args)
		}
		if do != nil {
			return do(cmd.Context(), cmd, args, w)
		}
		a.probe = w
		return run(cmd, args)
	}
}

// probeClock is the usual clock of the wires in kHz.
const probeClock = 5000

// completeProbes offers the probes there are, without opening one.
func (a *app) completeProbes(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var words []string
	found, err := a.usbBoards(cmd.Context())
	if err == nil {
		for _, p := range found {
			if p.Role == board.RoleProbe {
				words = append(words, p.Selector()+"\t"+p.Product)
			}
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// wayOf says whether a verb is to go through a probe: --probe, --via probe, or a
// -b or pin that is one. nil is another way.
func (a *app) wayOf(ctx context.Context, cmd *cobra.Command, args []string, f *probeFlags) (*probeWay, error) {
	if v, err := cmd.Flags().GetDuration("wait"); err == nil {
		f.wait = v
	}
	if l, err := cmd.Flags().GetStringArray("log"); err == nil {
		f.log = l
	}
	via := ""
	if l := cmd.Flags().Lookup("via"); l != nil {
		via = l.Value.String()
	}
	command := strings.TrimSpace("stem-hw " + cmd.Name() + " --probe %s " + strings.Join(args, " "))
	kind, address, ok, err := addressed(f.probe, via)
	if ok || err != nil {
		return &probeWay{f: f, address: address, kind: kind, how: howNamed}, err
	}
	if f.probe != "" {
		return a.namedProbe(ctx, f, f.probe, command)
	}
	selector, several := boardSelector(cmd)
	if cmd.Name() == "info" && len(args) > 0 || several {
		return nil, nil
	}
	if selector != "" || !throughCables(via) {
		return a.boardIsProbe(ctx, f, selector, via, command)
	}
	return a.onlyProbe(ctx, f, command)
}

// boardSelector is what -b says; several is true for more than one board.
func boardSelector(cmd *cobra.Command) (selector string, several bool) {
	if s, err := cmd.Flags().GetString("board"); err == nil {
		return s, false
	}
	all, err := cmd.Flags().GetStringArray("board")
	if err != nil || len(all) == 0 {
		return "", false
	}
	return all[0], len(all) > 1
}

// namedProbe finds the probe that --probe means.
func (a *app) namedProbe(ctx context.Context, f *probeFlags, selector, command string) (*probeWay, error) {
	s, err := board.Parse(selector)
	if err != nil {
		return nil, err
	}
	c, ok, err := a.named(ctx, selector, command)
	if err != nil || !ok {
		return nil, err
	}
	if c.Role != board.RoleProbe {
		u := faults.Usage("this is no debug probe")
		u.Seen, u.Wanted = s.String(), "a debug probe, or tcp:HOST:PORT"
		u.Try = []string{"stem-hw list"}
		return nil, u
	}
	return &probeWay{f: f, chosen: c, how: howNamed}, nil
}

// boardIsProbe looks whether the board that is named or pinned is a probe.
func (a *app) boardIsProbe(ctx context.Context, f *probeFlags, selector, via, command string) (*probeWay, error) {
	if selector != "" {
		s, err := board.Parse(selector)
		if err != nil {
			return nil, err
		}
		if s.Kind == board.KindSim || s.Kind == board.KindNative {
			if throughCables(via) {
				u := faults.Usage("a simulated board is not reached through a probe")
				u.Seen = "-b " + selector + " --via " + via
				u.Try = []string{"stem-hw sim board --dap-tcp :0, then --probe tcp:HOST:PORT"}
				return nil, u
			}
			return nil, nil
		}
	} else if pin, _, err := a.pinned(); err != nil || pin == nil || pin.Board.Role != board.RoleProbe {
		return nil, err
	}
	c, ok, err := a.named(ctx, selector, strings.Replace(command, "--probe", "-b", 1))
	if err != nil || !ok {
		return nil, err
	}
	if c.Role == board.RoleProbe {
		return &probeWay{f: f, chosen: c, how: c.how}, nil
	}
	if throughCables(via) {
		return a.onlyProbe(ctx, f, command)
	}
	return nil, nil
}

// onlyProbe is the probe pinned for this project, or the only one there is.
func (a *app) onlyProbe(ctx context.Context, f *probeFlags, command string) (*probeWay, error) {
	_, known, err := a.decisions()
	if err != nil {
		return nil, err
	}
	project, err := state.Project(".")
	if err != nil {
		return nil, err
	}
	if pin, ok := known.Probes[project]; ok {
		w, err := a.namedProbe(ctx, f, pin.Selector, command)
		if err == nil {
			w.chosen.pin, w.how = &pin, "pinned for "+project
		}
		return w, err
	}
	found, err := a.usbBoards(ctx)
	if err != nil {
		return nil, err
	}
	var probes []board.Board
	for _, p := range found {
		if p.Role == board.RoleProbe {
			probes = append(probes, p.Board)
		}
	}
	if len(probes) == 0 {
		return nil, a.noProbe(found)
	}
	b, err := board.Only(probes, board.Ask{Command: command})
	if err != nil {
		return nil, err
	}
	c, err := a.chosenBoard(ctx, b, "the only probe there is")
	if err != nil {
		return nil, err
	}
	a.ui.Note("using the probe %s, the only one there is", b.Selector())
	return &probeWay{f: f, chosen: c, how: c.how}, nil
}

// noProbe is the fault for a machine without a probe. A board in BOOTSEL mode is
// a target that was plugged in where the probe was meant.
func (a *app) noProbe(found []plugged) error {
	f := &faults.Fault{
		Code: faults.CodeBoardNotFound, Status: faults.StatusTarget,
		Summary: "there is no debug probe", Wanted: "a CMSIS-DAP probe, such as Raspberry Pi's Debug Probe",
		Try: []string{"plug the probe in", "stem-hw list"},
	}
	for _, p := range found {
		if p.Mode == board.ModeBootsel {
			f.Seen = "a board in BOOTSEL mode, " + p.Selector()
			f.Try = []string{"stem-hw flash -b " + p.Selector() + " FILE      (over USB, without a probe)", "plug the probe in"}
		}
	}
	if !usb.Available && f.Seen == "" {
		return usb.ErrNoUSB
	}
	return f
}

// openProbe opens a probe and attaches to the chip behind it, which has to be the
// one that was pinned. done gives everything back.
func (a *app) openProbe(ctx context.Context, w *probeWay, verb string, o probe.Options) (t *probe.Target, done func() error, err error) {
	if w.openocd {
		return a.openOpenOCD(ctx, w, verb, o)
	}
	var undo []func() error
	done = func() error {
		var errs []error
		for i := len(undo) - 1; i >= 0; i-- {
			errs = append(errs, undo[i]())
		}
		undo = nil
		return errors.Join(errs...)
	}
	fail := func(err error) (*probe.Target, func() error, error) { return nil, nil, errors.Join(err, done()) }
	way, err := a.transport(ctx, w, verb, &undo)
	if err != nil {
		return fail(err)
	}
	if w.f.record != "" {
		file, err := os.Create(w.f.record)
		if err != nil {
			_ = way.Close()
			return fail(&faults.Fault{
				Code: faults.CodeFileAccess, Status: faults.StatusUsage, Summary: "the recording cannot be written", Err: err,
			})
		}
		rec := dap.NewRecorder(way, file)
		undo = append(undo, func() error { return errors.Join(rec.Err(), file.Close()) })
		way = rec
	}
	do := dap.Options{}
	for _, l := range w.f.log {
		if l == "dap" {
			do.Log = func(line string) { a.ui.Say("dap: %s", line) }
		}
	}
	p, err := dap.Open(ctx, way, do)
	if err != nil {
		return fail(probe.Explain(err))
	}
	o.Clock = w.f.clock * 1000
	o.Notice = func(text string) { a.ui.Note("%s", text) }
	if t, err = probe.Open(ctx, p, o); err != nil {
		return fail(err)
	}
	undo = append(undo, t.Close)
	a.ui.Verbose(1, "probe %s, %s: RP2350 %s, %s, SWD at %d kHz", w.name(), w.how, t.Chip().Revision, t.Chip().Arch[0], t.Clock()/1000)
	if err := a.checkPinned(w, t.Chip().ID); err != nil {
		return fail(err)
	}
	return t, done, nil
}

// transport opens the way to the probe itself.
func (a *app) transport(ctx context.Context, w *probeWay, verb string, undo *[]func() error) (dap.Transport, error) {
	if w.address != "" {
		s, err := dap.Dial(ctx, w.address)
		if err != nil {
			return nil, &faults.Fault{
				Code: faults.CodeBoardNotFound, Status: faults.StatusTarget,
				Summary: "there is no debug probe at " + w.address, Err: err,
				Try: []string{"stem-hw sim board --dap-tcp :4441      (a simulated one)"},
			}
		}
		return s, nil
	}
	l, err := a.lease(ctx, &w.chosen, verb, w.f.wait)
	if err != nil {
		return nil, err
	}
	*undo = append(*undo, l.Release)
	return usbdap.Open(ctx, l.Device(), usb.Machine(a.getenv).Dir)
}

// checkPinned compares the chip with the one that the pins of this project name,
// and remembers it for a pinned probe that knows none.
func (a *app) checkPinned(w *probeWay, chip string) error {
	if chip == "" {
		return nil
	}
	_, known, err := a.decisions()
	if err != nil {
		return err
	}
	project, err := state.Project(".")
	if err != nil {
		return err
	}
	if w.how != howNamed {
		for _, pins := range []map[string]state.Pin{known.Pins, known.Probes} {
			if pin, ok := pins[project]; ok && pin.Chip != "" {
				if err := board.CheckChip(pin.Chip, chip, "behind the probe "+w.name()); err != nil {
					return err
				}
			}
		}
	}
	if w.address != "" {
		return nil
	}
	return a.checkChip(&w.chosen, chip)
}

// addProbe gives the verbs that can go through a probe their options.
func (a *app) addProbe(root *cobra.Command) {
	verbs := map[string]probeVerb{
		"info": a.probeInfoVerb, "flash": a.probeFlash, "verify": a.probeVerify, "save": a.probeSave, "erase": a.probeErase,
		"reset": a.probeReset, "console": a.probeConsole, "run": nil, "debug": nil, "gdbserver": nil,
	}
	for _, cmd := range root.Commands() {
		do, ok := verbs[cmd.Name()]
		if !ok {
			continue
		}
		a.throughProbe(cmd, do)
		fl := cmd.Flags()
		switch cmd.Name() {
		case "reset":
			var arch string
			fl.Bool("rescue", false, "with a probe: past everything that hangs; the program in flash is not started")
			choiceFlag(cmd, &arch, "arch", "", "with a probe: into this `ARCHITECTURE`: arm, riscv", "arm", "riscv")
		case "console":
			fl.Bool("rtt", false, "with a probe: show an RTT channel of the program")
			fl.Int("channel", 0, "`NUMBER` of the RTT channel")
		}
	}
}
