package main

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/profiles"
)

// applyProject sets the flags that neither the command line nor the environment
// gave from the project's settings, stem-hw.toml and stem-hw.local.toml. Verbs
// that have none of these flags do not look for the files.
func (a *app) applyProject(cmd *cobra.Command) error {
	fs := cmd.Flags()
	if cmd.GroupID == groupBoards {
		// What a console waits for is not what a run waits for.
		return nil
	}
	if !slices.ContainsFunc([]string{"speed", "expect-text", "machine"}, func(n string) bool { return fs.Lookup(n) != nil }) {
		return nil
	}
	overlays, err := profiles.Find(".")
	if err != nil || len(overlays) == 0 {
		return err
	}
	p, err := profiles.Load("", overlays...)
	if err != nil {
		return err
	}
	var names []string
	for _, o := range overlays {
		names = append(names, filepath.Base(o.Path))
	}
	used, err := setUnset(fs, p.Chip.Name, projectValues(p))
	if err != nil {
		return err
	}
	if len(used) > 0 {
		a.ui.Verbose(1, "from %s: %s", strings.Join(names, ", "), strings.Join(used, " "))
	}
	return nil
}

// projectValues are the settings that stand for a flag, in the order of names.
func projectValues(p *profiles.Profile) (values [][2]string) {
	add := func(flag, value string, given bool) {
		if given {
			values = append(values, [2]string{flag, value})
		}
	}
	add("machine", p.Chip.Machine, p.Chip.Name != profiles.Default)
	add("speed", p.Run.Speed, p.Run.Speed != "auto")
	add("timeout", p.Run.Timeout.String(), p.Run.Timeout.Duration > 0)
	add("expect-text", p.Run.ExpectText, p.Run.ExpectText != "")
	add("fail-text", p.Run.FailText, p.Run.FailText != "")
	return values
}

// setUnset sets those flags that exist and were not given.
func setUnset(fs *pflag.FlagSet, profile string, values [][2]string) (used []string, err error) {
	for _, v := range values {
		f := fs.Lookup(v[0])
		if f == nil || f.Changed {
			continue
		}
		if fs.Set(v[0], v[1]) != nil {
			fault := faults.Usage("the project's settings do not fit this verb")
			fault.Seen = "profile " + profile + ", " + v[0] + " " + strconv.Quote(v[1])
			fault.Wanted = wantedValue(f)
			fault.Try = []string{"another profile in " + profiles.ProjectFile, "the flag --" + v[0]}
			return nil, fault
		}
		used = append(used, "--"+v[0]+" "+v[1])
	}
	return used, nil
}
