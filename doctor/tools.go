package doctor

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

var versionForm = regexp.MustCompile(`(\d+)\.(\d+)(?:\.(\d+))?`)

// version is the first version number in a text, "" without one.
func version(text string) string { return versionForm.FindString(text) }

// atLeast compares versions by their numbers.
func atLeast(have, want string) bool {
	h, w := strings.Split(have, "."), strings.Split(want, ".")
	for i := range w {
		a := 0
		if i < len(h) {
			a, _ = strconv.Atoi(h[i])
		}
		b, _ := strconv.Atoi(w[i])
		if a != b {
			return a > b
		}
	}
	return true
}

func golang(ctx context.Context, h *Host) []Finding {
	const mend = "sudo apt-get install -t bookworm-backports golang-go, or https://go.dev/dl"
	if h.Look("go") == "" {
		return []Finding{{"go", Remark, Tools, "not installed; only building stem-hw needs it", mend, nil}}
	}
	v := version(strings.TrimPrefix(h.ask(ctx, "go", "version"), "go version go"))
	if !atLeast(v, h.WantGo) {
		return []Finding{{"go", Remark, Tools, v + " is too old to build stem-hw, which needs " + h.WantGo, mend, nil}}
	}
	return fine("go", v)
}

// riscvCompilers are the compilers of RISC-V firmware, by their names in
// distributions and in Raspberry Pi's and other archives.
var riscvCompilers = []string{"riscv32-unknown-elf-gcc", "riscv64-unknown-elf-gcc", "riscv32-corev-elf-gcc", "riscv-none-elf-gcc"}

// riscvCompiler: the Hazard3's instructions (Zcb, Zcmp, Zba…) came with gcc 14;
// Debian 12 and Ubuntu 24.04 have 12.2 and 13.
func riscvCompiler(ctx context.Context, h *Host) []Finding {
	for _, c := range riscvCompilers {
		if h.Look(c) == "" {
			continue
		}
		v := version(h.ask(ctx, c, "-dumpfullversion"))
		if !atLeast(v, "14") {
			return []Finding{{"RISC-V gcc", Remark, Tools, c + " " + v + " does not know all of the RP2350's instructions (Zcb, Zcmp); it needs 14",
				"scripts/root path riscv-gcc      (in the clone of stem-hw: gcc 14 of Debian 13, in a folder)", nil}}
		}
		return fine("RISC-V gcc", c+" "+v)
	}
	return []Finding{{"RISC-V gcc", Remark, Tools, "not installed; only building firmware for the RISC-V cores needs it", h.install("gcc-riscv64-unknown-elf", "gcc-riscv64-linux-gnu"), nil}}
}

func armCompiler(ctx context.Context, h *Host) []Finding {
	const c = "arm-none-eabi-gcc"
	if h.Look(c) == "" {
		return []Finding{{"Arm gcc", Remark, Tools, "not installed; only building firmware for the Arm cores needs it", h.install("gcc-arm-none-eabi libnewlib-arm-none-eabi", "arm-none-eabi-gcc-cs arm-none-eabi-newlib"), nil}}
	}
	return fine("Arm gcc", c+" "+version(h.ask(ctx, c, "-dumpfullversion")))
}

// sdk: PICO_SDK_PATH names a pico-sdk that knows the RP2350.
func sdk(_ context.Context, h *Host) []Finding {
	const clone = "git clone --recurse-submodules -b 2.2.0 https://github.com/raspberrypi/pico-sdk ~/pico-sdk && export PICO_SDK_PATH=~/pico-sdk"
	dir := h.Getenv("PICO_SDK_PATH")
	switch {
	case dir == "" && h.exists("usr/share/pico-sdk/pico_sdk_init.cmake"):
		return []Finding{{"pico-sdk", Remark, Tools, "PICO_SDK_PATH is not set", "export PICO_SDK_PATH=/usr/share/pico-sdk", nil}}
	case dir == "":
		return []Finding{{"pico-sdk", Remark, Tools, "PICO_SDK_PATH is not set; only building firmware with the pico-sdk needs it", clone, nil}}
	case !filepath.IsAbs(dir) || !h.exists(filepath.Join(dir, "pico_sdk_init.cmake")[1:]):
		return []Finding{{"pico-sdk", Trouble, Tools, "PICO_SDK_PATH=" + dir + " is no pico-sdk", clone, nil}}
	case !h.exists(filepath.Join(dir, "src/rp2350")[1:]):
		return []Finding{{"pico-sdk", Trouble, Tools, dir + " does not know the RP2350; it needs 2.0.0", "git -C " + dir + " checkout 2.2.0 && git -C " + dir + " submodule update --init", nil}}
	}
	return fine("pico-sdk", dir)
}

func gdb(ctx context.Context, h *Host) []Finding {
	for _, g := range []string{"gdb-multiarch", "riscv32-unknown-elf-gdb", "gdb"} {
		if h.Look(g) == "" {
			continue
		}
		first, _, _ := strings.Cut(h.ask(ctx, g, "--version"), "\n")
		return fine("gdb", g+" "+version(first[strings.LastIndex(first, " ")+1:]))
	}
	return []Finding{{"gdb", Remark, Tools, "not installed; stem-hw debug needs it", h.install("gdb-multiarch", "gdb"), nil}}
}

// openocd of the distributions does not know the RP2350; stem-hw has a
// configuration of its own.
func openocd(ctx context.Context, h *Host) []Finding {
	if h.Look("openocd") == "" {
		return []Finding{{"openocd", Remark, Tools, "not installed; only --via openocd needs it", h.install("openocd", "openocd"), nil}}
	}
	first, _, _ := strings.Cut(h.ask(ctx, "openocd", "--version"), "\n")
	return fine("openocd", version(first))
}

// picotool is not needed; who has it should know which RP2350 it knows.
func picotool(ctx context.Context, h *Host) []Finding {
	if h.Look("picotool") == "" {
		return nil
	}
	v := version(h.ask(ctx, "picotool", "version"))
	if v != "" && !atLeast(v, "2.0") {
		return []Finding{{"picotool", Remark, Tools, v + " does not know the RP2350; stem-hw does without it", h.install("picotool", "picotool"), nil}}
	}
	return fine("picotool", v)
}

func podman(ctx context.Context, h *Host) []Finding {
	if h.Look("podman") == "" {
		return []Finding{{"podman", Remark, Tools, "not installed; only sessions in containers need it", h.install("podman", "podman"), nil}}
	}
	v := version(h.ask(ctx, "podman", "--version"))
	if !atLeast(v, "4.3") {
		return []Finding{{"podman", Remark, Tools, v + " is too old; sessions in containers need 4.3", h.install("podman", "podman"), nil}}
	}
	return fine("podman", v)
}

func sessionTools(_ context.Context, h *Host) []Finding {
	var missing []string
	for _, t := range [][2]string{{"tmux", "tmux"}, {"nvim", "neovim"}} {
		if h.Look(t[0]) == "" {
			missing = append(missing, t[1])
		}
	}
	if len(missing) == 0 {
		return fine("sessions", "tmux and Neovim are there")
	}
	all := strings.Join(missing, " ")
	return []Finding{{"sessions", Remark, Tools, fmt.Sprintf("%s not installed; only shared sessions on this machine need it", all), h.install(all, all), nil}}
}
