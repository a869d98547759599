package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/ui"
)

// envPrefix begins the environment variable of every flag: --log-file is
// STEM_HW_LOG_FILE. A flag given on the command line wins.
const envPrefix = "STEM_HW_"

// envName returns the environment variable of a flag.
func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// globalFlags are accepted by every verb.
func (a *app) globalFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&a.json, "json", false, "write JSON to standard output: one document, or one a line")
	fs.BoolVar(&a.noColor, "no-color", false, "no colours (also NO_COLOR)")
	fs.BoolVarP(&a.quiet, "quiet", "q", false, "say nothing but warnings and errors")
	fs.CountVarP(&a.verbose, "verbose", "v", "say more; may be repeated")
	fs.StringVar(&a.logFile, "log-file", "", "append everything that is said to `FILE`, with the time")
	fs.BoolVar(&a.nonInteractive, "non-interactive", false, "never ask")
}

// applyEnvironment sets the flags that were not given on the command line from
// the environment.
func (a *app) applyEnvironment(cmd *cobra.Command) error {
	var err error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		name := envName(f.Name)
		v := a.getenv(name)
		if err != nil || f.Changed || v == "" || f.Name == "help" || f.Name == "yes" {
			return
		}
		if serr := cmd.Flags().Set(f.Name, v); serr != nil {
			fault := faults.Usage("the environment variable %s is not usable", name)
			fault.Seen, fault.Wanted = strconv.Quote(v), wantedValue(f)
			fault.Try = []string{"unset " + name}
			err = fault
		}
	})
	return err
}

// wantsJSON and wantsColor look for global flags before the command line is
// parsed.
func (a *app) wantsJSON(args []string) bool {
	if on, given := scanBool(args, "--json"); given {
		return on
	}
	on, err := strconv.ParseBool(a.getenv(envName("json")))
	return err == nil && on
}

func (a *app) wantsColor(args []string) bool {
	if off, given := scanBool(args, "--no-color"); given && off {
		return false
	}
	if off, err := strconv.ParseBool(a.getenv(envName("no-color"))); err == nil && off {
		return false
	}
	return ui.ColorAllowed(a.getenv)
}

func scanBool(args []string, flag string) (on, given bool) {
	for _, s := range args {
		if s == "--" {
			break
		}
		if s == flag {
			on, given = true, true
		} else if v, ok := strings.CutPrefix(s, flag+"="); ok {
			b, err := strconv.ParseBool(v)
			on, given = err == nil && b, true
		}
	}
	return on, given
}

// oneOf is a flag whose value is one of a list. It implements pflag.Value.
type oneOf struct {
	value   *string
	choices []string
}

func (o oneOf) String() string {
	if o.value == nil {
		return ""
	}
	return *o.value
}

func (o oneOf) Type() string { return strings.Join(o.choices, "|") }

// Set accepts one of the choices.
func (o oneOf) Set(s string) error {
	if !slices.Contains(o.choices, s) {
		return fmt.Errorf("%q is none of %s", s, strings.Join(o.choices, ", "))
	}
	*o.value = s
	return nil
}

// choiceFlag adds a flag that takes one of choices, with completion.
func choiceFlag(cmd *cobra.Command, p *string, name, def, usage string, choices ...string) {
	*p = def
	cmd.Flags().Var(oneOf{p, choices}, name, usage)
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
}
