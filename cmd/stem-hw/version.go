package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/stem-hw/stem-hw/ui"
)

// version is set by the linker for releases (-X main.version=v1.2.3).
var version string

// versionResult is the build that runs.
type versionResult struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Cgo      bool   `json:"cgo"`
}

// Kind is "version".
func (versionResult) Kind() string { return "version" }

// Text is one line.
func (v versionResult) Text(t *ui.Text) {
	s := "stem-hw " + v.Version
	if v.Revision != "" {
		s += " " + v.Revision[:min(12, len(v.Revision))]
		if v.Modified {
			s += "+"
		}
	}
	cgo := "without cgo"
	if v.Cgo {
		cgo = "with cgo"
	}
	t.Linef("%s (%s %s/%s, %s)", s, v.Go, v.OS, v.Arch, cgo)
}

func buildVersion() versionResult {
	v := versionResult{Version: version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if ok {
		if v.Version == "" {
			v.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Revision = s.Value
			case "vcs.modified":
				v.Modified = s.Value == "true"
			case "CGO_ENABLED":
				v.Cgo = s.Value == "1"
			}
		}
	}
	if v.Version == "" {
		v.Version = "(devel)"
	}
	return v
}

func (a *app) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Example: "  stem-hw version\n  stem-hw version --json",
		Short:   "say which build this is",
		GroupID: groupOther,
		Args:    exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			return a.ui.Result(buildVersion())
		},
	}
}
