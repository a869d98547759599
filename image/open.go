package image

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
)

// Options say how a file is to be read. The zero value suits a program for
// an RP2350.
type Options struct {
	// Base is the address of the first byte of a BIN file; 0 means the start
	// of flash, 0x10000000, unless HasBase is set.
	Base    uint32
	HasBase bool
	// Family picks one family of a UF2 file; 0 leaves the choice to Arch.
	Family uint32
	// Arch prefers the part for one CPU where a file has parts for several.
	Arch Arch
	// Format is the format to read the file as; empty: recognise it by its
	// contents.
	Format Format
}

// MaxFileSize bounds what Open reads: nothing for an RP2350 comes near it,
// not even an ELF file with debug information or a UF2 file of all 32 MiB.
const MaxFileSize = 512 << 20

// headSize is how much of a file tells its format.
const headSize = 16 * 1024

// Open reads an image file.
func Open(path string) (*Image, error) { return OpenWith(path, Options{}) }

// OpenWith reads an image file. UF2 files are streamed.
func OpenWith(path string, opt Options) (*Image, error) {
	f, size, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, min(size, headSize))
	if _, err := io.ReadFull(f, head); err != nil {
		return nil, accessFault(path, err)
	}
	format := opt.Format
	if format == "" {
		if format, err = detect(path, head); err != nil {
			return nil, err
		}
	}
	rest := io.MultiReader(bytes.NewReader(head), f)
	if format == FormatUF2 {
		im, err := readUF2(path, rest, size, opt)
		if err == nil {
			im.arch()
		}
		return im, err
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(rest, data); err != nil {
		return nil, accessFault(path, err)
	}
	opt.Format = format
	return Parse(path, data, opt)
}

// Parse reads an image from bytes. The name is for messages, and for telling
// a damaged file from a BIN file: contents decide the format. The image keeps
// data, which must not change afterwards.
func Parse(name string, data []byte, opt Options) (*Image, error) {
	format := opt.Format
	if format == "" {
		var err error
		if format, err = detect(name, data); err != nil {
			return nil, err
		}
	}
	var im *Image
	var err error
	switch format {
	case FormatELF:
		if !bytes.HasPrefix(data, []byte(elfMagic)) {
			return nil, notThatFormat(name, "an ELF file", data)
		}
		im, err = parseELF(name, data)
	case FormatHEX:
		im, err = parseHEX(name, data)
	case FormatUF2:
		im, err = readUF2(name, bytes.NewReader(data), int64(len(data)), opt)
	case FormatBIN:
		im, err = parseBIN(name, data, opt)
	default:
		return nil, faults.Usage("unknown image format %q: use elf, bin, hex or uf2", string(format))
	}
	if err != nil {
		return nil, err
	}
	im.arch()
	return im, nil
}

// detect tells the format by contents. A file that has no known beginning is
// a BIN file, unless its name promises something else.
func detect(name string, head []byte) (Format, error) {
	switch {
	case len(head) == 0:
		return "", badImage(name, "the file is empty", "0 bytes", "a firmware image")
	case bytes.HasPrefix(head, []byte(elfMagic)):
		return FormatELF, nil
	case looksLikeUF2(head):
		return FormatUF2, nil
	case looksLikeHEX(head):
		return FormatHEX, nil
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".elf", ".axf", ".out":
		return "", notThatFormat(name, "an ELF file", head)
	case ".uf2":
		return "", notThatFormat(name, "a UF2 file", head)
	case ".hex", ".ihex", ".ihx":
		return FormatHEX, nil
	}
	return FormatBIN, nil
}

func notThatFormat(name, want string, head []byte) error {
	seen := fmt.Sprintf("a file that begins with % x", head[:min(8, len(head))])
	if bytes.HasPrefix(head, []byte("!<arch>")) {
		seen = "a library (ar archive)"
	}
	return badImage(name, "this is not "+want, seen, want).
		WithTry("build it again, or rename it to .bin if it is a raw image")
}

func parseBIN(path string, data []byte, opt Options) (*Image, error) {
	base := opt.Base
	if base == 0 && !opt.HasBase {
		base = RP2350.FlashBase
	}
	if len(data) == 0 {
		return nil, badImage(path, "the file is empty", "0 bytes", "a firmware image")
	}
	if uint64(base)+uint64(len(data)) > 1<<32 {
		return nil, &faults.Fault{Code: faults.CodeImageTooLarge, Status: faults.StatusImage,
			Summary: where(path) + "the image wraps around the end of the address space",
			Seen:    fmt.Sprintf("%d bytes at 0x%08x", len(data), base), Wanted: "an end at or below 0x100000000"}
	}
	return &Image{Path: path, Format: FormatBIN,
		Segments: []Segment{{Addr: base, Data: data, Name: "the file"}}}, nil
}

func openFile(path string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, accessFault(path, err)
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		kind := "a device or pipe"
		if st.IsDir() {
			kind = "a folder"
		}
		err = &faults.Fault{Code: faults.CodeFileAccess, Status: faults.StatusImage,
			Summary: path + ": not an image file", Seen: kind, Wanted: "a regular file"}
	} else if err == nil && st.Size() > MaxFileSize {
		err = &faults.Fault{Code: faults.CodeImageTooLarge, Status: faults.StatusImage,
			Summary: path + ": the file is too large for an image",
			Seen:    fmt.Sprintf("%d MiB", st.Size()>>20), Wanted: fmt.Sprintf("at most %d MiB", MaxFileSize>>20)}
	} else if err != nil {
		err = accessFault(path, err)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, st.Size(), nil
}

// OpenStream opens an image file as a stream, with the faults of Open.
func OpenStream(path string) (io.ReadCloser, error) {
	f, _, err := openFile(path)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// ReadSmall reads a whole file of at most limit bytes.
func ReadSmall(path string, limit int64) ([]byte, error) {
	f, size, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > limit {
		return nil, &faults.Fault{Code: faults.CodeImageTooLarge, Status: faults.StatusImage,
			Summary: path + ": the file is too large", Seen: fmt.Sprintf("%d bytes", size), Wanted: fmt.Sprintf("at most %d", limit)}
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, accessFault(path, err)
	}
	return data, nil
}

func accessFault(path string, err error) error {
	f := &faults.Fault{Code: faults.CodeFileAccess, Status: faults.StatusImage,
		Summary: path + ": cannot read the file", Err: err}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		f.Err = pe.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		f.Try = []string{"ls " + quoteShell(filepath.Dir(path))}
	}
	return f
}

func quoteShell(s string) string {
	if strings.ContainsAny(s, " \t\n'\"$&;|<>*?()\\`") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}
