package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(peers(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func peers(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("peers", flag.ContinueOnError)
	fs.SetOutput(stderr)
	jobs := fs.Int("jobs", runtime.NumCPU(), "programs that run at once")
	only := fs.String("only", "", "run only files whose name contains `TEXT`")
	patience := fs.Duration("timeout", 5*time.Minute, "the longest a program may take")
	table := fs.String("expect", "expect.tsv", "the table in the folder")
	verbose := fs.Bool("v", false, "show what the simulator remarked")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	if fs.NArg() != 1 || *jobs < 1 {
		fmt.Fprintln(stderr, "usage: peers [-jobs N] [-only TEXT] [-timeout TIME] [-expect FILE] [-v] DIR")
		return 2
	}
	dir := fs.Arg(0)
	f, err := os.Open(filepath.Join(dir, *table))
	if err != nil {
		fmt.Fprintf(stderr, "peers: %v\n", err)
		return 2
	}
	defer f.Close()
	all, err := parse(f)
	if err != nil {
		fmt.Fprintf(stderr, "peers: %s: %v\n", f.Name(), err)
		return 2
	}
	var list []*expectation
	for _, e := range all {
		if strings.Contains(e.file, *only) {
			list = append(list, e)
		}
	}
	results := runAll(ctx, dir, list, *jobs, *patience, func(r result) { show(stdout, r, *verbose) })
	failed := 0
	for _, r := range results {
		if r.why != "" {
			failed++
		}
	}
	fmt.Fprintf(stdout, "peers: %d passed, %d failed\n", len(results)-failed, failed)
	if failed > 0 || len(results) == 0 || ctx.Err() != nil {
		return 1
	}
	return 0
}

// runAll runs the list, some at once, and tells of each in the list's order.
func runAll(ctx context.Context, dir string, list []*expectation, jobs int, patience time.Duration, tell func(result)) []result {
	results := make([]result, len(list))
	ready := make([]chan struct{}, len(list))
	next := make(chan int)
	var wg sync.WaitGroup
	for i := range ready {
		ready[i] = make(chan struct{})
	}
	for range jobs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				results[i] = run(ctx, dir, list[i], patience)
				close(ready[i])
			}
		}()
	}
	go func() {
		for i := range list {
			next <- i
		}
		close(next)
	}()
	for i := range list {
		<-ready[i]
		tell(results[i])
	}
	wg.Wait()
	return results
}

func show(w io.Writer, r result, verbose bool) {
	word := "ok  "
	if r.why != "" {
		word = "FAIL"
	}
	fmt.Fprintf(w, "%s %-44s %-11s %12d cycles %6.2f s  %s\n", word, r.e.file, r.e.machine, r.cycles, r.took.Seconds(), r.end)
	if r.why != "" {
		fmt.Fprintf(w, "     %s\n", r.why)
	}
	if verbose {
		for _, n := range r.notices {
			fmt.Fprintf(w, "     note: %s\n", n)
		}
	}
}
