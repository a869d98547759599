//go:build judges

package openocd_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/internal/probed"
	"github.com/stem-hw/stem-hw/openocd"
	"github.com/stem-hw/stem-hw/target"
	"github.com/stem-hw/stem-hw/target/targettest"
)

// TestJudgesConformance runs the conformance suite through each OpenOCD of
// $OPENOCD, by every way that it knows.
func TestJudgesConformance(t *testing.T) {
	for _, path := range strings.Fields(os.Getenv("OPENOCD")) {
		all := []openocd.Abilities{asked(t, path)}
		for _, arch := range []image.Arch{image.ArchARM, image.ArchRISCV} {
			for _, kind := range []openocd.AdapterKind{openocd.TCP, openocd.SWDBitbang, openocd.JTAGBitbang} {
				if _, err := openocd.Choose(all, arch, openocd.Adapter{Kind: kind}); err != nil {
					continue
				}
				t.Run(strings.Join([]string{string(all[0].Kind), string(arch), string(kind)}, "/"), func(t *testing.T) {
					targettest.Run(t, targettest.Case{
						New: func(t *testing.T) target.Target {
							r := probed.New(t, probed.Board{Arch: arch})
							address := map[openocd.AdapterKind]func() string{
								openocd.TCP: r.Listen, openocd.SWDBitbang: r.ListenSWD, openocd.JTAGBitbang: r.ListenJTAG,
							}[kind]()
							return open(t, openocd.Options{All: all, Adapter: at(t, kind, address)})
						},
						Must: must, At: 0x20000000, Arch: arch, Flash: 0x10000000,
					})
				})
			}
		}
	}
}
