package report

import (
	"encoding/binary"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stem-hw/stem-hw/image/picobin"
	"github.com/stem-hw/stem-hw/internal/built"
	"github.com/stem-hw/stem-hw/uf2"
)

// TestMain removes the program that benchmarks build.
func TestMain(m *testing.M) { os.Exit(built.Main(m)) }

// benchELF writes an ELF file with size bytes of contents at the start of
// flash that nobody can compress or guess.
func benchELF(b *testing.B, dir string, size int) string {
	b.Helper()
	le := binary.LittleEndian
	f := append([]byte("\x7fELF"), 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	f = le.AppendUint16(le.AppendUint16(f, 2), 243)
	for _, v := range []uint32{1, 0x10000100, 52, 0, 0} {
		f = le.AppendUint32(f, v)
	}
	for _, v := range []uint16{52, 32, 1, 0, 0, 0} {
		f = le.AppendUint16(f, v)
	}
	for _, v := range []uint32{1, 84, 0x10000000, 0x10000000, uint32(size), uint32(size), 5, 4} {
		f = le.AppendUint32(f, v)
	}
	f = append(f, picobin.Bytes([]uint32{picobin.MarkerStart, 0x11010142, 0x344, 0x10000100, 0x20082000, 0x4ff, 0, picobin.MarkerEnd})...)
	path := filepath.Join(dir, "image.elf")
	out, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := out.Write(f); err != nil {
		b.Fatal(err)
	}
	// In pieces: what this process once used shows up in the peak of its
	// children.
	if _, err := io.CopyN(out, rand.New(rand.NewSource(1)), int64(size-32)); err != nil {
		b.Fatal(err)
	}
	if err := out.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// process measures whole processes: the time of each, and the highest memory.
func process(b *testing.B, dir string, size int, words ...string) {
	b.Helper()
	b.SetBytes(int64(size))
	peak := int64(0)
	for b.Loop() {
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = dir
		if err := cmd.Run(); err != nil {
			b.Fatalf("%v: %v", words, err)
		}
		if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			peak = max(peak, u.Maxrss)
		}
	}
	b.ReportMetric(float64(peak)/1024, "peak-MiB")
}

// BenchmarkImages compares conversion and info with picotool's in the same
// run, process against process. The idle rows are what a process costs that
// does nothing.
func BenchmarkImages(b *testing.B) {
	stem := built.StemHW(b)
	for _, mib := range []int{1, 4} {
		size := mib << 20
		dir := b.TempDir()
		benchELF(b, dir, size)
		name := map[int]string{1: "1MiB", 4: "4MiB"}[mib]
		both := func(what string, ours, theirs []string) {
			b.Run(what+"/"+name+"/stem-hw", func(b *testing.B) {
				process(b, dir, size, append([]string{stem}, ours...)...)
			})
			b.Run(what+"/"+name+"/picotool", func(b *testing.B) {
				process(b, dir, size, append(picotoolWords(b, false), theirs...)...)
			})
		}
		both("convert", []string{"uf2", "convert", "-q", "image.elf", "a.uf2"}, []string{"uf2", "convert", "--quiet", "image.elf", "b.uf2"})
		both("info", []string{"info", "image.elf"}, []string{"info", "-a", "image.elf"})
		if mib == 1 {
			both("idle", []string{"version"}, []string{"version"})
		}
	}
}

// BenchmarkLargeUF2 reads a UF2 file of 64 MiB as a stream.
func BenchmarkLargeUF2(b *testing.B) {
	stem := built.StemHW(b)
	dir := b.TempDir()
	const blocks = 64 << 20 / uf2.BlockSize
	f, err := os.Create(filepath.Join(dir, "large.uf2"))
	if err != nil {
		b.Fatal(err)
	}
	w := uf2.NewWriter(f, uf2.FamilyData, blocks)
	page := make([]byte, uf2.PayloadSize)
	for i := range uint32(blocks) {
		binary.LittleEndian.PutUint32(page, i)
		if err := w.WritePage(0x10000000+i*uf2.PayloadSize, page); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	for _, c := range [][]string{{"info", "uf2", "info", "large.uf2"}, {"explain", "uf2", "explain", "large.uf2"}, {"convert", "uf2", "convert", "-q", "large.uf2", "large.bin"}} {
		b.Run(c[0], func(b *testing.B) { process(b, dir, 64<<20, append([]string{stem}, c[1:]...)...) })
	}
}
