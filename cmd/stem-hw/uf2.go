package main

import (
	"github.com/spf13/cobra"
)

func (a *app) uf2Cmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "uf2",
		Short:   "convert, inspect and explain UF2 files",
		GroupID: groupPrograms,
		Args:    verbsOnly,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.uf2ConvertCmd(), a.uf2InfoCmd(), a.uf2ExplainCmd(), a.uf2CombineCmd(), a.uf2SplitCmd())
	return cmd
}
