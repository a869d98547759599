package gdbserver

import (
	"context"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/stem-hw/stem-hw/target"
)

// Reporter is an optional capability of a target: reports for gdb's monitor
// command ("clocks", "gpio"). Reports returns a line of help for each.
type Reporter interface {
	Reports() map[string]string
	Report(ctx context.Context, name string, args []string) (string, error)
}

const monitorHelp = `monitor commands:
  help                    this list
  reset [halt|init|run]   reset the chip; halt and init stop it before its first instruction
  halt                    stop every core
  info                    the target, its cores and its memory
  stats                   cycles, instructions and simulated time
  send [TEXT]             send TEXT and a line feed to the program's console
`

// monitor serves qRcmd.
func (c *conn) monitor(ctx context.Context, cmd string) error {
	f := strings.Fields(cmd)
	if len(f) == 0 {
		f = []string{"help"}
	}
	text, err := c.runMonitor(ctx, cmd, f)
	if err != nil {
		text = "error: " + err.Error() + "\n"
	}
	if text != "" {
		if werr := c.output(text); werr != nil {
			return werr
		}
	}
	if err != nil {
		return c.sendString("E01")
	}
	return c.sendString("OK")
}

func (c *conn) runMonitor(ctx context.Context, cmd string, f []string) (string, error) {
	rep, _ := c.s.opt.Target.(Reporter)
	switch f[0] {
	case "help":
		return monitorHelp + reportHelp(rep), nil
	case "reset":
		return c.monitorReset(ctx, f[1:])
	case "halt":
		return "", c.s.halter.Halt(ctx)
	case "info":
		return describeText(*c.describe()), nil
	case "stats":
		r, ok := c.s.opt.Target.(target.Runner)
		if !ok {
			return "", fmt.Errorf("this target counts nothing")
		}
		return statsText(r.Stats()), nil
	}
	if f[0] == "send" {
		return "", c.sendConsole(cmd)
	}
	if rep != nil {
		if _, known := rep.Reports()[f[0]]; known {
			return rep.Report(ctx, f[0], f[1:])
		}
	}
	return "", fmt.Errorf("unknown monitor command %q; try: monitor help", f[0])
}

// monitorReset resets as editors' configurations ask for it. gdb believes the
// target halted after any monitor command, so "run" takes effect with the next
// continue.
func (c *conn) monitorReset(ctx context.Context, args []string) (string, error) {
	how := "halt"
	if len(args) > 0 {
		how = args[0]
	}
	switch how {
	case "halt", "init":
		return "", c.reset(ctx, target.ResetHalt)
	case "run":
		if err := c.reset(ctx, target.ResetHalt); err != nil {
			return "", err
		}
		return "reset; the program starts with the next continue\n", nil
	}
	return "", fmt.Errorf("reset knows halt, init and run, not %q", how)
}

// sendConsole gives a line to the program's console.
func (c *conn) sendConsole(cmd string) error {
	w := c.s.opt.Target.Console()
	if w == nil {
		return fmt.Errorf("this target has no console")
	}
	_, text, _ := strings.Cut(strings.TrimSpace(cmd), " ")
	_, err := io.WriteString(w, text+"\n")
	return err
}

func reportHelp(rep Reporter) string {
	if rep == nil {
		return ""
	}
	reports := rep.Reports()
	names := make([]string, 0, len(reports))
	for n := range reports {
		names = append(names, n)
	}
	sort.Strings(names)
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "  %-22s  %s\n", n, reports[n])
	}
	return b.String()
}

func describeText(d target.Description) string {
	var b strings.Builder
	kind := "hardware"
	if d.Simulated {
		kind = "simulated"
	}
	fmt.Fprintf(&b, "%s (%s, %s)\n", d.Name, kind, d.Arch)
	for _, core := range d.Cores {
		fmt.Fprintf(&b, "  core %d  %s\n", core.ID, core.Name)
	}
	for _, m := range d.Memory {
		fmt.Fprintf(&b, "  %08x-%08x  %-5s  %s\n", m.Base, m.Base+(m.Size-1), m.Kind, m.Name)
	}
	return b.String()
}

func statsText(s target.Stats) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d cycles, %.6f s simulated\n", s.Cycles, s.Seconds)
	for i, n := range s.Instructions {
		fmt.Fprintf(&b, "core %d: %d instructions\n", i, n)
	}
	return b.String()
}
