package doctor

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/usb"
)

// machine is a host out of files and programs with their versions.
func machine(files map[string]string, programs map[string]string) *Host {
	root := fstest.MapFS{}
	for name, text := range files {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return &Host{
		Root: root, Getenv: func(string) string { return "" }, UID: 1000, User: "anna", USB: true, WantGo: "1.24", RulesNow: []byte("rules\n"),
		Look: func(p string) string {
			if _, ok := programs[p]; ok {
				return "/usr/bin/" + p
			}
			return ""
		},
		Ask: func(_ context.Context, p string, _ ...string) (string, error) {
			if programs[p] == "fails" {
				return "", errors.New("exit status 1")
			}
			return programs[p], nil
		},
	}
}

const installed = "etc/udev/rules.d/60-stem-hw.rules"

func node(group string, perm uint32, access bool) usb.Node {
	return usb.Node{Path: "/dev/bus/usb/001/005", Owner: "root", Group: group, Perm: perm, Access: access}
}

func probe(n usb.Node) []usb.Device {
	return []usb.Device{{Port: "1-2", Syspath: "devices/x/1-2", Name: "Debug Probe", Role: board.RoleProbe, Node: n}}
}

func TestFindings(t *testing.T) {
	tests := []struct {
		name    string
		check   Check
		host    func() *Host
		verdict Verdict // "" is no finding
		seen    string
		mend    string
	}{
		{"no rules", rules, func() *Host { return machine(nil, nil) }, Trouble, "not installed", "sudo stem-hw udev install"},
		{"rules", rules, func() *Host { return machine(map[string]string{installed: "rules\n"}, nil) }, Fine, installed, ""},
		{"packaged rules", rules, func() *Host {
			return machine(map[string]string{"usr/lib/udev/rules.d/60-stem-hw.rules": "rules\n"}, nil)
		}, Fine, "/usr/lib", ""},
		{"old rules", rules, func() *Host { return machine(map[string]string{installed: "old"}, nil) }, Trouble, "another version", "udev install"},
		{"no access, no rules", boards, func() *Host {
			h := machine(nil, nil)
			h.Devices = probe(node("root", 0o664, false))
			return h
		}, Trouble, "/dev/bus/usb/001/005 root:root 0664", "sudo stem-hw udev install"},
		{"no access, not in the group", boards, func() *Host {
			h := machine(map[string]string{installed: ""}, nil)
			h.Devices = probe(node("plugdev", 0o660, false))
			return h
		}, Trouble, "root:plugdev 0660", "sudo usermod -aG plugdev anna"},
		{"no access, rules came later", boards, func() *Host {
			h := machine(map[string]string{installed: ""}, nil)
			h.Devices = probe(node("root", 0o664, false))
			return h
		}, Trouble, "0664", "udevadm trigger --action=change /sys/devices/x/1-2"},
		{"access", boards, func() *Host {
			h := machine(nil, nil)
			h.Devices = probe(node("plugdev", 0o660, true))
			return h
		}, Fine, "may be opened", ""},
		{"group", groups, func() *Host {
			return machine(map[string]string{"etc/group": "plugdev:x:46:\ndialout:x:20:\n"}, nil)
		}, Remark, "not in it", "sudo usermod -aG plugdev anna"},
		{"no such group", groups, func() *Host { return machine(nil, nil) }, Remark, "no such group", "sudo groupadd --system plugdev"},
		{"group of the next login", groups, func() *Host {
			h := machine(nil, nil)
			h.Member = []string{"plugdev", "dialout"}
			return h
		}, Trouble, "last login", "log out"},
		{"ModemManager", modemManager, func() *Host { return machine(map[string]string{"proc/77/comm": "ModemManager\n"}, nil) }, Trouble, "talks", "udev install"},
		{"no ModemManager", modemManager, func() *Host { return machine(map[string]string{"proc/77/comm": "sh\n"}, nil) }, "", "", ""},
		{"ModemManager and rules", modemManager, func() *Host {
			return machine(map[string]string{"proc/77/comm": "ModemManager\n", installed: ""}, nil)
		}, Fine, "keep off", ""},
		{"autosuspend", autosuspend, func() *Host {
			h := machine(map[string]string{"sys/devices/x/1-2/power/control": "auto\n", installed: ""}, nil)
			h.Devices = probe(node("plugdev", 0o660, true))
			return h
		}, Remark, "sleep", "echo on | sudo tee /sys/devices/x/1-2/power/control"},
		{"WSL2 without usbipd", wsl, func() *Host {
			return machine(map[string]string{"proc/version": "Linux version 5.15.90.1-microsoft-standard-WSL2"}, nil)
		}, Trouble, "without usbipd", "usbipd attach --wsl"},
		{"WSL2, nothing attached", wsl, func() *Host {
			return machine(map[string]string{"proc/version": "Linux 5.15-microsoft-standard-WSL2", "sys/bus/usb/devices/usb1": ""}, nil)
		}, Remark, "no board", "usbipd attach"},
		{"no WSL", wsl, func() *Host { return machine(map[string]string{"proc/version": "Linux version 6.1.0 (debian)"}, nil) }, "", "", ""},
		{"built without", usbBuilt, func() *Host { h := machine(nil, nil); h.USB = false; return h }, Trouble, "without USB", "make build CGO_ENABLED=1"},
		{"old go", golang, func() *Host { return machine(nil, map[string]string{"go": "go version go1.19.8 linux/amd64"}) }, Remark, "1.19.8 is too old", "go.dev"},
		{"go", golang, func() *Host { return machine(nil, map[string]string{"go": "go version go1.26.8 linux/amd64"}) }, Fine, "1.26.8", ""},
		{"gcc 12.2", riscvCompiler, func() *Host {
			return machine(nil, map[string]string{"riscv64-unknown-elf-gcc": "12.2.0\n"})
		}, Remark, "12.2.0 does not know", "scripts/root path riscv-gcc"},
		{"gcc 14", riscvCompiler, func() *Host { return machine(nil, map[string]string{"riscv32-unknown-elf-gcc": "14.2.0"}) }, Fine, "14.2.0", ""},
		{"no sdk", sdk, func() *Host { return machine(nil, nil) }, Remark, "not set", "git clone"},
		{"no sdk there", sdk, func() *Host {
			h := machine(nil, nil)
			h.Getenv = func(string) string { return "/opt/sdk" }
			return h
		}, Trouble, "is no pico-sdk", "git clone"},
		{"old sdk", sdk, func() *Host {
			h := machine(map[string]string{"opt/sdk/pico_sdk_init.cmake": ""}, nil)
			h.Getenv = func(string) string { return "/opt/sdk" }
			return h
		}, Trouble, "RP2350", "checkout 2.2.0"},
		{"sdk", sdk, func() *Host {
			h := machine(map[string]string{"opt/sdk/pico_sdk_init.cmake": "", "opt/sdk/src/rp2350/x": ""}, nil)
			h.Getenv = func(string) string { return "/opt/sdk" }
			return h
		}, Fine, "/opt/sdk", ""},
		{"podman", podman, func() *Host { return machine(nil, map[string]string{"podman": "podman version 4.3.1"}) }, Fine, "4.3.1", ""},
		{"old podman", podman, func() *Host { return machine(nil, map[string]string{"podman": "podman version 3.4.4"}) }, Remark, "too old", "install podman"},
		{"no podman on Fedora", podman, func() *Host { return machine(map[string]string{"etc/fedora-release": ""}, nil) }, Remark, "not installed", "sudo dnf install podman"},
		{"openocd", openocd, func() *Host {
			return machine(nil, map[string]string{"openocd": "Open On-Chip Debugger 0.12.0\nLicensed under GNU GPL v2"})
		}, Fine, "0.12.0", ""},
		{"gdb", gdb, func() *Host {
			return machine(nil, map[string]string{"gdb-multiarch": "GNU gdb (Debian 13.1-3) 13.1\n"})
		}, Fine, "gdb-multiarch 13.1", ""},
		{"old picotool", picotool, func() *Host { return machine(nil, map[string]string{"picotool": "picotool v1.1.2 (Linux)"}) }, Remark, "1.1.2", ""},
		{"wiring", wiring, func() *Host { h := machine(nil, nil); h.Devices = probe(node("", 0, true)); return h }, Fine, "connected", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Run(t.Context(), tt.host(), tt.check)
			if err != nil {
				t.Fatal(err)
			}
			if tt.verdict == "" {
				if len(got) > 0 {
					t.Fatalf("%+v", got)
				}
				return
			}
			if len(got) == 0 || got[0].Verdict != tt.verdict || !strings.Contains(got[0].Seen, tt.seen) || !strings.Contains(got[0].Mend, tt.mend) {
				t.Errorf("%+v, want %s, %q, %q", got, tt.verdict, tt.seen, tt.mend)
			}
		})
	}
}

// TestEveryTroubleIsMended: whatever a check finds wrong comes with a command.
func TestEveryTroubleIsMended(t *testing.T) {
	bare := machine(nil, nil)
	bare.USB = false
	broken := map[string]string{}
	for _, p := range append([]string{"go", "arm-none-eabi-gcc", "gdb-multiarch", "openocd", "picotool", "podman", "tmux", "nvim"}, riscvCompilers...) {
		broken[p] = "fails"
	}
	for _, h := range []*Host{bare, machine(nil, broken)} {
		got, err := Run(t.Context(), h, AllChecks()...)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) < 8 {
			t.Errorf("only %d findings", len(got))
		}
		for _, f := range got {
			if f.Verdict != Fine && f.Mend == "" {
				t.Errorf("%+v has nothing that mends it", f)
			}
		}
	}
}

// TestWiring compares the drawing with what probes and boards have.
func TestWiring(t *testing.T) {
	all := strings.Join(Wiring, "\n")
	for _, pair := range [][2]string{{"SC", "SWCLK"}, {"SD", "SWDIO"}, {"TX", "GP1"}, {"RX", "GP0"}} {
		if !regexp.MustCompile(`o ` + pair[0] + ` .*` + pair[1]).MatchString(all) {
			t.Errorf("%s does not go to %s", pair[0], pair[1])
		}
	}
}

func TestGoVersion(t *testing.T) {
	b, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`(?m)^go ([0-9]+\.[0-9]+)`).FindSubmatch(b)
	src, err := os.ReadFile("../cmd/stem-hw/doctor.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(src), `wantGo = "`+string(want[1])+`"`) {
		t.Errorf("go.mod wants Go %s, doctor something else", want[1])
	}
}

func TestVersions(t *testing.T) {
	for _, tt := range []struct {
		have, want string
		ok         bool
	}{{"12.2", "14", false}, {"14", "14", true}, {"14.2.1", "14", true}, {"1.9", "1.24", false}, {"", "1", false}, {"4.3.1", "4.3", true}} {
		if atLeast(tt.have, tt.want) != tt.ok {
			t.Errorf("%q at least %q", tt.have, tt.want)
		}
	}
	if !slices.Equal([]string{version("Open 0.12.0+dev-0001"), version("x")}, []string{"0.12.0", ""}) {
		t.Error(version("Open 0.12.0+dev-0001"))
	}
}
