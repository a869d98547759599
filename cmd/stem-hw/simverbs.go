package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/faults"
	simboard "github.com/stem-hw/stem-hw/sim/board"
	"github.com/stem-hw/stem-hw/ui"
)

// idleVariable says how long a simulated board stays without a use.
const idleVariable = "STEM_HW_SIM_IDLE"

// defaultIdle is its default.
const defaultIdle = 10 * time.Minute

// startTime bounds how long a server may take to start.
const startTime = 30 * time.Second

// startServer starts the process that runs a simulated board.
func (a *app) startServer(ctx context.Context, p simboard.Place) ([]byte, error) {
	idle := defaultIdle
	if v := a.getenv(idleVariable); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil && v == "0" {
			d, err = 0, nil
		}
		if err != nil || d < 0 {
			f := faults.Usage("the environment variable %s is not usable", idleVariable)
			f.Seen, f.Wanted = fmt.Sprintf("%q", v), "a duration such as 10m, or 0 for ever"
			f.Try = []string{"unset " + idleVariable}
			return nil, f
		}
		idle = d
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("the path of stem-hw: %w", err)
	}
	log, err := os.OpenFile(p.LogPath(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log of the simulated board: %w", err)
	}
	defer log.Close()
	var env []string
	for _, kv := range os.Environ() {
		// Options of this command are none of the server's.
		if !strings.HasPrefix(kv, envPrefix) {
			env = append(env, kv)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	return child.StartService(ctx, child.Service{
		Program: exe, Name: "stem-hw", Env: env, Log: log,
		Args: []string{"sim", "serve", p.Name, "--idle", idle.String(), "--report"},
	})
}

// simServeCmd is the server itself. People have no use for it.
func (a *app) simServeCmd() *cobra.Command {
	var idle time.Duration
	var report bool
	cmd := &cobra.Command{
		Use:    "serve NAME",
		Short:  "run a simulated board in this process",
		Hidden: true,
		Args:   exactArgs("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.simServe(cmd.Context(), args[0], idle, report)
		},
	}
	cmd.Flags().DurationVar(&idle, "idle", defaultIdle, "end after this `TIME` without a use")
	cmd.Flags().BoolVar(&report, "report", false, "report on file descriptor 3 when ready")
	return cmd
}

func (a *app) simServe(ctx context.Context, name string, idle time.Duration, report bool) error {
	p, err := a.simPlace(name)
	if err != nil {
		return err
	}
	log := func(format string, args ...any) {
		a.ui.Say("%s %s", time.Now().UTC().Format(time.RFC3339), fmt.Sprintf(format, args...))
	}
	s, l, err := simboard.NewServer(p, simboard.ServerOptions{Version: buildVersion().Version, Idle: idle, Log: log})
	if report {
		f := os.NewFile(child.ReportFD, "report")
		if err != nil {
			_, _ = f.Write(simboard.ReportOf(err))
		}
		_ = f.Close()
	}
	if err != nil {
		return err
	}
	if err := s.Serve(ctx, l); err != nil {
		return err
	}
	log("ended")
	return nil
}

func (a *app) simListCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "list the simulated boards",
		Example: "  stem-hw sim list\n  stem-hw sim list --json",
		Args:    exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := a.boards(cmd.Context())
			if err != nil {
				return err
			}
			sims := []board.Board{}
			for _, b := range all {
				if b.Simulated {
					sims = append(sims, b)
				}
			}
			return a.ui.Result(listResult{Boards: sims})
		},
	}
}

// simArg is the board of a verb below sim: NAME or sim:NAME, else sim.
func (a *app) simArg(args []string) (simboard.Place, error) {
	name := board.DefaultSim
	if len(args) > 0 {
		name = strings.TrimPrefix(args[0], "sim:")
		if args[0] == "sim" {
			name = board.DefaultSim
		}
	}
	return a.simPlace(name)
}

// statsResult is what a simulated board has done since power-up.
type statsResult struct {
	Board        string     `json:"board"`
	Simulated    bool       `json:"simulated"`
	Mode         board.Mode `json:"mode"`
	Detail       string     `json:"detail,omitempty"`
	Cycles       uint64     `json:"cycles"`
	Seconds      float64    `json:"seconds"`
	Instructions []uint64   `json:"instructions"`
	PID          int        `json:"pid"`
	Since        time.Time  `json:"since"`
}

func (statsResult) Kind() string { return "sim-stats" }

func (r statsResult) Text(t *ui.Text) {
	t.Row("board", r.Board)
	t.Row("mode", strings.TrimSuffix(string(r.Mode)+": "+r.Detail, ": "))
	t.Row("cycles", fmt.Sprint(r.Cycles))
	t.Row("simulated", fmt.Sprintf("%.6f s", r.Seconds))
	for i, n := range r.Instructions {
		t.Row(fmt.Sprintf("core %d", i), fmt.Sprintf("%d instructions", n))
	}
	t.Row("process", fmt.Sprint(r.PID))
}

func (a *app) simStatsCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "stats [NAME|SERIAL]",
		Short: "count what a simulated board has done since power-up",
		Long: `Stats tells how much a simulated board has executed. For boards of sim board, by
their serial number or the beginning of it, it tells what went over their USB and
into their flash, and how long that takes on hardware: full-speed transfers,
erasing, programming, the boot ROM, restarts. Without an argument these are shown
if the board sim is off.`,
		Example: "  stem-hw sim stats\n  stem-hw sim stats lab --json\n  stem-hw sim stats 7A3C",
		Args:    atMostArgs("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				found, err := a.benchBoards(cmd.Context(), args[0])
				if err != nil || len(found) > 0 {
					return a.showUSBStats(found, err)
				}
			}
			p, err := a.simArg(args)
			if err != nil {
				return err
			}
			c, err := simboard.Dial(cmd.Context(), p, buildVersion().Version, "stats")
			if errors.Is(err, simboard.ErrNotServed) {
				if len(args) == 0 {
					found, err := a.benchBoards(cmd.Context(), "")
					if err != nil || len(found) > 0 {
						return a.showUSBStats(found, err)
					}
				}
				return offFault(p)
			}
			if err != nil {
				return err
			}
			defer c.Close()
			i, st, err := c.Stats(cmd.Context())
			if err != nil {
				return err
			}
			return a.ui.Result(statsResult{
				Board: p.Selector(), Simulated: true, Mode: i.Mode, Detail: i.Detail, Cycles: st.Cycles, Seconds: st.Seconds,
				Instructions: st.Instructions, PID: c.PID, Since: i.Since,
			})
		},
	}
}

func offFault(p simboard.Place) error {
	f := &faults.Fault{
		Code: faults.CodeBoardNotFound, Status: faults.StatusNotFound,
		Summary: "the simulated board " + p.Selector() + " is off",
		Try:     []string{"stem-hw reset -b " + p.Selector()},
	}
	if u, held := p.Holder(); held {
		f.Code, f.Status = faults.CodeBusy, faults.StatusBusy
		f.Summary, f.Seen = "the simulated board "+p.Selector()+" is in use", u.String()
		f.Try = []string{"stem-hw list"}
	}
	return f
}

// stopResult says which boards were stopped.
type stopResult struct {
	Stopped []string `json:"stopped"`
	Off     []string `json:"off"`
}

func (stopResult) Kind() string { return "sim-stop" }

func (r stopResult) Text(t *ui.Text) {
	for _, b := range r.Stopped {
		t.Linef("%s is off; its flash and fuses are kept", b)
	}
	for _, b := range r.Off {
		t.Linef("%s was off", b)
	}
}

func (a *app) simStopCmd() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "stop [NAME]",
		Short: "switch a simulated board off",
		Long: `Stop ends the process that runs a simulated board. What the board keeps without
power (flash and fuses) is kept.`,
		Example: "  stem-hw sim stop\n  stem-hw sim stop lab\n  stem-hw sim stop --all",
		Args:    atMostArgs("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all && len(args) > 0 {
				return faults.Usage("--all and a name exclude each other")
			}
			var places []simboard.Place
			if all {
				dir, err := state.Folder(a.getenv)
				if err != nil {
					return err
				}
				for _, n := range simboard.Names(dir) {
					p, err := a.simPlace(n)
					if err != nil {
						return err
					}
					places = append(places, p)
				}
			} else {
				p, err := a.simArg(args)
				if err != nil {
					return err
				}
				places = append(places, p)
			}
			r := stopResult{Stopped: []string{}, Off: []string{}}
			for _, p := range places {
				was, err := simboard.Stop(cmd.Context(), p, buildVersion().Version)
				if err != nil {
					return err
				}
				if was {
					r.Stopped = append(r.Stopped, p.Selector())
				} else {
					r.Off = append(r.Off, p.Selector())
				}
			}
			return a.ui.Result(r)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every simulated board")
	return cmd
}
