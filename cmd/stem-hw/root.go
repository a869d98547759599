package main

import (
	"github.com/spf13/cobra"
)

// Groups of verbs, as the help shows them.
const (
	groupBoards   = "boards"
	groupPrograms = "programs"
	groupDebug    = "debug"
	groupCourses  = "courses"
	groupAgents   = "agents"
	groupOther    = "other"
)

// verbs lists the verbs that exist, in the order of the help. Adding a verb is
// adding a line.
func (a *app) verbs() []*cobra.Command {
	return []*cobra.Command{
		a.listCmd(),
		a.useCmd(),
		a.infoCmd(),
		a.flashCmd(),
		a.verifyCmd(),
		a.eraseCmd(),
		a.saveCmd(),
		a.resetCmd(),
		a.consoleCmd(),
		a.udevCmd(),
		a.doctorCmd(),
		a.uf2Cmd(),
		a.imageCmd(),
		a.runCmd(),
		a.debugCmd(),
		a.gdbserverCmd(),
		a.openocdCmd(),
		a.simCmd(),
		a.cardCmd(),
		a.buildCmd(),
		a.testCmd(),
		a.deployCmd(),
		a.sessionCmd(),
		a.mcpCmd(),
		a.jobCmd(),
		a.versionCmd(),
	}
}

// root builds the command tree.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "stem-hw",
		Short: "find, flash, run and debug a Raspberry Pi Pico 2, real or simulated",
		Long: `stem-hw finds, flashes and debugs boards with a Raspberry Pi RP2350 (Pico 2) on the
USB, does the same with simulated ones, runs firmware of either architecture on
them, and inspects and converts images.`,
		Args:          verbsOnly,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return a.start(cmd)
		},
	}
	root.SetOut(a.ui.Data())
	root.SetErr(a.streams.Err)
	root.SetFlagErrorFunc(usageFault)
	a.globalFlags(root.PersistentFlags())

	verbs := a.verbs()
	for _, g := range []cobra.Group{
		{ID: groupBoards, Title: "Boards:"},
		{ID: groupPrograms, Title: "Programs:"},
		{ID: groupDebug, Title: "Debugging:"},
		{ID: groupCourses, Title: "Courses and sessions:"},
		{ID: groupAgents, Title: "Agents:"},
		{ID: groupOther, Title: "Other:"},
	} {
		used := g.ID == groupOther
		for _, v := range verbs {
			used = used || v.GroupID == g.ID
		}
		if used {
			root.AddGroup(&g)
		}
	}
	root.SetCompletionCommandGroupID(groupOther)
	root.SetHelpCommand(helpCmd(root))
	root.AddCommand(verbs...)
	a.addProbe(root)
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Short = "print a script for the shell that completes words"
		}
	}
	return root
}

// helpCmd is `stem-hw help VERB`, which people type whatever the help says.
func helpCmd(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [VERB]",
		Short:   "show the help of a verb",
		Hidden:  true,
		GroupID: groupOther,
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownVerb(cmd, args[len(args)-max(len(rest), 1)])
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}
