package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/sim/virtual"
	"github.com/stem-hw/stem-hw/sim/virtual/bench"
	"github.com/stem-hw/stem-hw/ui"
)

// benchPrefix begins the names of sockets on which a sim board tells its
// statistics: a connection gets one JSON document.
const benchPrefix = "bench-"

// usbStats is what one board of a bench, or its probe, has done.
type usbStats struct {
	Serial string `json:"serial"`
	Device string `json:"device"` // board or probe
	virtual.Stats
	Total time.Duration `json:"total_ns"`
}

// benchStats are the boards of one process.
type benchStats struct {
	PID   int        `json:"pid"`
	Stats []usbStats `json:"stats"`
}

// serveStats tells statistics until ctx ends.
func (a *app) serveStats(ctx context.Context, b *bench.Bench) error {
	dir, err := a.runtimeFolder()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, fmt.Sprintf("%s%d", benchPrefix, os.Getpid()))
	_ = os.Remove(path) // of an earlier process with this number
	l, err := net.Listen("unix", path)
	if err != nil {
		return &faults.Fault{Code: faults.CodeFileAccess, Status: faults.StatusInternal, Summary: "cannot tell statistics", Err: err}
	}
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	defer l.Close()
	var clients sync.WaitGroup
	defer clients.Wait()
	for {
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		clients.Add(1)
		go func() {
			defer clients.Done()
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(statsTime))
			_ = json.NewEncoder(conn).Encode(statsOf(b))
		}()
	}
}

// statsTime bounds an exchange of statistics.
const statsTime = 5 * time.Second

func statsOf(b *bench.Bench) benchStats {
	s := benchStats{PID: os.Getpid()}
	for _, u := range b.Units {
		own, probe := u.Stats()
		s.Stats = append(s.Stats, usbStats{u.Serial, "board", own, own.Total()})
		if u.Probe != nil {
			s.Stats = append(s.Stats, usbStats{u.ProbeSerial, "probe", probe, probe.Total()})
		}
	}
	return s
}

// askBenches asks every sim board of this user.
func (a *app) askBenches(ctx context.Context) (all []usbStats, err error) {
	dir, err := a.runtimeFolder()
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(dir, benchPrefix+"*"))
	if err != nil {
		return nil, err
	}
	sort.Strings(paths)
	for _, p := range paths {
		s, err := askBench(ctx, p)
		if errors.Is(err, unix.ECONNREFUSED) {
			_ = os.Remove(p) // its process is gone
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("statistics at %s: %w", p, err)
		}
		all = append(all, s.Stats...)
	}
	return all, nil
}

func askBench(ctx context.Context, path string) (s benchStats, err error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return s, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(statsTime))
	return s, json.NewDecoder(conn).Decode(&s)
}

// usbStatsResult is what boards of sim board have done.
type usbStatsResult struct {
	Simulated bool       `json:"simulated"`
	USB       []usbStats `json:"usb"`
}

func (usbStatsResult) Kind() string { return "sim-usb-stats" }

func (r usbStatsResult) Text(t *ui.Text) {
	for i, s := range r.USB {
		if i > 0 {
			t.Linef("")
		}
		t.Row(s.Device, s.Serial)
		t.Row("transfers", fmt.Sprintf("%d, %d packets, %d bytes", s.Transfers, s.Packets, s.Bytes))
		t.Row("bus", seconds(s.Time.Bus))
		if s.Device == "board" {
			t.Row("flash", fmt.Sprintf("%d sectors erased, %d pages programmed, %d pages read", s.Erases, s.Programs, s.Reads))
			t.Row("erasing", seconds(s.Time.Erase))
			t.Row("programming", seconds(s.Time.Program))
			t.Row("boot ROM", seconds(s.Time.ROM))
			t.Row("restarts", fmt.Sprintf("%s, on the bus %d times", seconds(s.Time.Boot), s.Enumerations))
		}
		t.Row("together", seconds(s.Total))
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.6f s", d.Seconds()) }

// benchBoards finds boards and probes of sim board: by a prefix of a serial
// number, or all of them. found is false if there are none.
func (a *app) benchBoards(ctx context.Context, prefix string) (found []usbStats, err error) {
	all, err := a.askBenches(ctx)
	if err != nil {
		return nil, err
	}
	serials := map[string]bool{}
	for _, s := range all {
		if strings.HasPrefix(strings.ToUpper(s.Serial), strings.ToUpper(prefix)) {
			found = append(found, s)
			serials[s.Serial] = true
		}
	}
	if prefix == "" || len(serials) < 2 {
		return found, nil
	}
	f := &faults.Fault{
		Code: faults.CodeAmbiguous, Status: faults.StatusAmbiguous,
		Summary: "several boards match", Seen: prefix, Wanted: "a longer prefix of one serial number",
	}
	for s := range serials {
		f.Details = append(f.Details, s)
	}
	sort.Strings(f.Details)
	return nil, f
}

func (a *app) showUSBStats(found []usbStats, err error) error {
	if err != nil {
		return err
	}
	return a.ui.Result(usbStatsResult{Simulated: true, USB: found})
}
