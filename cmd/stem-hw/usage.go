package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stem-hw/stem-hw/faults"
)

// usageFault explains a mistake of usage that cobra or pflag found.
func usageFault(cmd *cobra.Command, err error) error {
	if f := faults.Of(err); f != nil {
		return f
	}
	help := cmd.CommandPath() + " --help"
	var unknown *pflag.NotExistError
	var needs *pflag.ValueRequiredError
	var bad *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		flag := "--" + name
		if len(name) == 1 {
			flag = "-" + name
		}
		f := faults.Usage("unknown flag %s", flag)
		if near := nearestFlag(cmd, name); near != "" {
			f.Try = append(f.Try, fmt.Sprintf("%s --%s", cmd.CommandPath(), near))
		}
		f.Try = append(f.Try, help)
		return f
	case errors.As(err, &needs):
		f := faults.Usage("flag --%s needs a value", needs.GetFlag().Name)
		f.Wanted, f.Try = wantedValue(needs.GetFlag()), []string{help}
		return f
	case errors.As(err, &bad):
		f := faults.Usage("flag --%s cannot have this value", bad.GetFlag().Name)
		f.Seen = fmt.Sprintf("%q", bad.GetValue())
		f.Wanted = wantedValue(bad.GetFlag())
		f.Try = []string{help}
		return f
	}
	f := faults.Usage("%s", err)
	f.Try = []string{help}
	return f
}

// unknownVerb explains a word that is no verb of cmd.
func unknownVerb(cmd *cobra.Command, word string) error {
	f := faults.Usage("unknown verb %q", word)
	f.Try = nil
	cmd.SuggestionsMinimumDistance = 2
	for _, s := range cmd.SuggestionsFor(word) {
		f.Try = append(f.Try, cmd.CommandPath()+" "+s)
	}
	f.Try = append(f.Try, cmd.CommandPath()+" --help")
	return f
}

// verbsOnly is the Args of commands that only have verbs below them.
func verbsOnly(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownVerb(cmd, args[0])
	}
	return nil
}

// exactArgs wants one argument for each name.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		var f *faults.Fault
		if len(args) < len(names) {
			f = faults.Usage("%s needs %s", cmd.CommandPath(), strings.Join(names[len(args):], " "))
		} else {
			f = faults.Usage("%s takes %s", cmd.CommandPath(), count(len(names)))
			f.Seen = fmt.Sprintf("also %q", args[len(names):])
		}
		f.Try = []string{strings.TrimSpace(cmd.CommandPath() + " " + strings.Join(names, " ")), cmd.CommandPath() + " --help"}
		return f
	}
}

func count(n int) string {
	switch n {
	case 0:
		return "no arguments"
	case 1:
		return "one argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

// nearestFlag returns the long name of the flag of cmd closest to name, or ""
// if none is close.
func nearestFlag(cmd *cobra.Command, name string) string {
	best, bestD := "", 3
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		d := distance(name, f.Name)
		if len(name) > 2 && strings.HasPrefix(f.Name, name) {
			d = min(d, 1)
		}
		if d < bestD && d < len(f.Name) {
			best, bestD = f.Name, d
		}
	})
	return best
}

// distance is the Levenshtein distance of two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diag := row[0]
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diag, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diag+cost)
		}
	}
	return row[len(b)]
}

// wantedValue says what a flag takes, in words.
func wantedValue(f *pflag.Flag) string {
	if o, ok := f.Value.(oneOf); ok {
		return strings.Join(o.choices, " or ")
	}
	switch t := f.Value.Type(); t {
	case "bool":
		return "true or false"
	case "count", "int", "uint", "uint64":
		return "a number"
	case "duration":
		return "a duration such as 500ms, 10s or 2m"
	default:
		name, _ := pflag.UnquoteUsage(f)
		return "a value for " + name
	}
}

// atMostArgs accepts the named arguments, of which the last ones may be missing.
func atMostArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= len(names) {
			return nil
		}
		return exactArgs(names...)(cmd, args)
	}
}

// atLeastOne wants one to three words: a path, or the words of a card.
func atLeastOne(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return exactArgs(name)(cmd, args)
		}
		return cobra.MaximumNArgs(3)(cmd, args)
	}
}
