package partition

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/image/picobin"
)

// TestSameAsCase: the shared description gives the shared table, byte for
// byte, hash included.
func TestSameAsCase(t *testing.T) {
	js, err := os.ReadFile("../testdata/cases/pt.json")
	if err != nil {
		t.Fatal(err)
	}
	want, _ := os.ReadFile("../testdata/cases/pt.bin")
	tab, err := ParseJSON("pt.json", js)
	if err != nil {
		t.Fatal(err)
	}
	w, err := tab.Words(true)
	if err != nil {
		t.Fatal(err)
	}
	if got := picobin.Bytes(w); !bytes.Equal(got, want) {
		t.Errorf("\n% x\n% x", got, want)
	}
	// And the boot ROM reads it back.
	rt := boot.ResidentTable(boot.Flash{Data: want}, boot.Options{Chip: boot.A2})
	if rt.Problem != "" || len(rt.Partitions) != 3 || rt.Partitions[2].Name != "files" || !rt.Block.HasVersion {
		t.Errorf("%+v", rt)
	}
	want[20] ^= 1
	if rt := boot.ResidentTable(boot.Flash{Data: want}, boot.Options{Chip: boot.A2}); !strings.Contains(rt.Problem, "hash is wrong") {
		t.Errorf("damaged table: %q", rt.Problem)
	}
}

const good = `{"unpartitioned":{"families":["absolute"],"permissions":{"secure":"rw","nonsecure":"rw","bootloader":"rw"}},"partitions":[%]}`

func part(extra string) string {
	return `{"families":["data"],"permissions":{"secure":"rw","nonsecure":"rw","bootloader":"rw"},` + extra + `}`
}

func TestErrors(t *testing.T) {
	tests := []struct{ name, json, want string }{
		{"no JSON", "partition", "line 1, column 1"},
		{"cut off", `{"version": [1,`, "line 1"},
		{"line and column", "{\n  \"version\": [1,0],\n  \"wat\": 1\n}", "line 3"},
		{"wrong kind", `{"partitions": 7}`, `"partitions" is a number`},
		{"not complete", `{}`, `both "unpartitioned" and "partitions"`},
		{"rest", strings.ReplaceAll(good, "%", "") + "x", "behind the partition table"},
		{"no size", strings.ReplaceAll(good, "%", part(`"name":"x"`)), "partition 0 has no size"},
		{"size", strings.ReplaceAll(good, "%", part(`"size":"4 K"`)), "size is not usable"},
		{"negative size", strings.ReplaceAll(good, "%", part(`"size":-4`)), "size is not usable"},
		{"size 0", strings.ReplaceAll(good, "%", part(`"size":0`)), "has no room"},
		{"alignment", strings.ReplaceAll(good, "%", part(`"size":"5K"`)), "not aligned"},
		{"too large", strings.ReplaceAll(good, "%", part(`"size":"33M"`)), "beyond all flash"},
		{"overlap", strings.ReplaceAll(good, "%", part(`"size":"64K","start":"64K"`)+","+part(`"size":"64K","start":"100K"`)), "partitions 0 and 1 overlap"},
		{"family", strings.ReplaceAll(good, "%", `{"size":"4K","families":["rp3000"],"permissions":{}}`), `unknown UF2 family: found "rp3000"`},
		{"too many families", strings.ReplaceAll(good, "%", `{"size":"4K","families":["0x11","0x12","0x13","0x14"],"permissions":{}}`), "too many extra families"},
		{"permission", strings.ReplaceAll(good, "%", `{"size":"4K","families":[],"permissions":{"secure":"rx"}}`), `permission secure is not usable: found "rx"`},
		{"link kind", strings.ReplaceAll(good, "%", part(`"size":"4K","link":["b",0]`)), "unknown kind of link"},
		{"link to itself", strings.ReplaceAll(good, "%", part(`"size":"4K","link":["a",0]`)), "links to no other partition"},
		{"two Bs", strings.ReplaceAll(good, "%", part(`"size":"4K"`)+","+part(`"size":"4K","link":["a",0]`)+","+part(`"size":"4K","link":["a",0]`)), "two B partitions"},
		{"id", strings.ReplaceAll(good, "%", part(`"size":"4K","id":18446744073709551616`)), "ID is not usable"},
		{"name", strings.ReplaceAll(good, "%", part(`"size":"4K","name":"`+strings.Repeat("x", 128)+`"`)), "name is too long"},
	}
	for _, tt := range tests {
		_, err := ParseJSON("pt.json", []byte(tt.json))
		if !faults.Is(err, faults.CodeBadPartitions) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestUnits(t *testing.T) {
	for js, want := range map[string][2]uint32{
		`"size":16`:                  {2 * 4096, 18 * 4096},
		`"size":65536`:               {2 * 4096, 18 * 4096},
		`"size":"64k"`:               {2 * 4096, 18 * 4096},
		`"size":"1M","start":"64K"`:  {64 << 10, 64<<10 + 1<<20},
		`"size":4,"start":8`:         {8 * 4096, 12 * 4096},
		`"size":16384,"start":32768`: {32768, 49152},
	} {
		tab, err := ParseJSON("", []byte(strings.ReplaceAll(good, "%", part(js))))
		if err != nil {
			t.Errorf("%s: %v", js, err)
			continue
		}
		if p := tab.Partitions[0]; p.Start() != want[0] || p.End() != want[1] {
			t.Errorf("%s: %#x-%#x", js, p.Start(), p.End())
		}
	}
}

func TestTooLargeForABlock(t *testing.T) {
	var parts []string
	for range 16 {
		parts = append(parts, part(`"size":"4K","name":"`+strings.Repeat("x", 60)+`"`))
	}
	tab, err := ParseJSON("", []byte(strings.ReplaceAll(good, "%", strings.Join(parts, ","))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tab.Words(true); !faults.Is(err, faults.CodeBadPartitions) || !strings.Contains(err.Error(), "too large") {
		t.Error(err)
	}
}

func FuzzJSON(f *testing.F) {
	js, _ := os.ReadFile("../testdata/cases/pt.json")
	f.Add(js)
	f.Add([]byte(strings.ReplaceAll(good, "%", part(`"size":"4K","id":"0xffffffffffffffff","link":["owner",1]`))))
	f.Add([]byte(`{"partitions":[{"size":1e9}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tab, err := ParseJSON("x", data)
		if err != nil {
			if faults.Of(err) == nil {
				t.Fatalf("not a fault: %v", err)
			}
			return
		}
		w, err := tab.Words(true)
		if err != nil {
			if faults.Of(err) == nil {
				t.Fatalf("not a fault: %v", err)
			}
			return
		}
		rt := boot.ResidentTable(boot.Flash{Data: picobin.Bytes(w)}, boot.Options{Chip: boot.A4})
		if rt.Problem != "" || len(rt.Partitions) != len(tab.Partitions) {
			t.Fatalf("the boot ROM would not read it back: %q, %d of %d", rt.Problem, len(rt.Partitions), len(tab.Partitions))
		}
	})
}
