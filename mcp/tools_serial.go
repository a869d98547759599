package mcp

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"regexp"
	"regexp/syntax"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/faults"
)

var serialTools = []*tool{
	define("serial_read", Observe, look, "What the program printed since a sequence number (0 is the beginning, -1 the last few lines). "+
		"Reading takes nothing away: give next as after to go on without a gap.", serialRead),
	define("serial_wait", Observe, look, "Wait until the program prints something that matches, after a sequence number.", serialWait),
}

// ring is the program's console as a log; a sequence number is a place in it.
type ring struct{ f *os.File }

// programLog opens the log. The card is not ours alone: no link is followed out of
// it, and only a plain file is read.
func (p *Place) programLog() (*ring, error) {
	root, err := os.OpenRoot(p.Record.Card)
	if err == nil {
		defer root.Close()
		var f *os.File
		f, err = root.OpenFile(p.logPath(), os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
		if err == nil {
			if st, serr := f.Stat(); serr == nil && st.Mode().IsRegular() {
				return &ring{f}, nil
			}
			_ = f.Close()
			err = errors.New("no plain file")
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &ring{}, nil // nothing was printed yet
	}
	return nil, &faults.Fault{Code: faults.CodeFileAccess, Status: faults.StatusUsage, Summary: "the program's log cannot be read", Seen: p.logPath(), Err: err}
}

// Close closes it.
func (r *ring) Close() {
	if r.f != nil {
		_ = r.f.Close()
	}
}

func (r *ring) size() int64 {
	if r.f == nil {
		return 0
	}
	st, err := r.f.Stat()
	if err != nil {
		return 0
	}
	return st.Size()
}

// read returns at most limit bytes from a place on.
func (r *ring) read(from int64, limit int) (string, error) {
	n := r.size() - from
	if r.f == nil || n <= 0 {
		return "", nil
	}
	b := make([]byte, min(n, int64(limit)))
	got, err := r.f.ReadAt(b, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return string(b[:got]), nil
}

// tail returns the last bytes and where they begin.
func (r *ring) tail(limit int) (string, int64, error) {
	from := max(0, r.size()-int64(limit))
	text, err := r.read(from, limit)
	return text, from, err
}

type serialArgs struct {
	After int64 `json:"after,omitempty" jsonschema:"the sequence number to go on from; 0 is the beginning, -1 the last 4 KiB"`
	Limit int   `json:"limit,omitempty" jsonschema:"how many bytes at most, 1 to 32768; 8192 if not given"`
}

// serialText is a piece of what was printed.
type serialText struct {
	Outside
	// From and Next are the sequence numbers of its beginning and of what follows;
	// Latest is that of the end.
	From   int64 `json:"from"`
	Next   int64 `json:"next"`
	Latest int64 `json:"latest"`
	// Restarted says that the log began anew since after was given out.
	Restarted bool `json:"restarted,omitempty"`
	// Matched says whether serial_wait found what it waited for.
	Matched *bool `json:"matched,omitempty"`
}

const serialLimit = 32 << 10

func (in serialArgs) check() (serialArgs, error) {
	if in.Limit == 0 {
		in.Limit = 8 << 10
	}
	if in.Limit < 1 || in.Limit > serialLimit {
		return in, badArgument("limit", "1 to 32768")
	}
	if in.After < -1 {
		return in, badArgument("after", "a sequence number, or -1")
	}
	return in, nil
}

// piece reads from a sequence number on.
func (p *Place) piece(in serialArgs) (*serialText, error) {
	r, err := p.programLog()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	out := &serialText{Latest: r.size(), From: in.After}
	switch {
	case in.After == -1:
		out.From = max(0, out.Latest-4<<10)
	case in.After > out.Latest:
		out.From, out.Restarted = 0, true
	}
	text, err := r.read(out.From, in.Limit)
	if err != nil {
		return nil, faults.Internal(err)
	}
	// A character that is not whole yet stays for the next read.
	if whole, _ := clipHead(text, len(text)); len(text)-len(whole) < 4 && len(whole) > 0 {
		text = whole
	}
	out.Next = out.From + int64(len(text))
	out.Outside = outside("the program's console", text)
	return out, nil
}

func serialRead(_ context.Context, c *call, in serialArgs) (any, error) {
	in, err := in.check()
	if err != nil {
		return nil, err
	}
	out, err := c.place.piece(in)
	if err != nil {
		return nil, err
	}
	return document("mcp-serial", out)
}

type serialWaitArgs struct {
	Pattern   string `json:"pattern" jsonschema:"a regular expression (RE2) of at most 200 characters"`
	After     int64  `json:"after,omitempty" jsonschema:"the sequence number to look from; -1 is from now on"`
	TimeoutMS int    `json:"timeout_ms,omitempty" jsonschema:"how long to wait, up to 45000; 5000 if not given"`
}

// pattern compiles what a caller looks for. RE2 takes linear time.
func pattern(text string) (*regexp.Regexp, error) {
	if text == "" || len(text) > 200 {
		return nil, badArgument("pattern", "1 to 200 characters")
	}
	re, err := syntax.Parse(text, syntax.Perl)
	if err == nil {
		var prog *syntax.Prog
		if prog, err = syntax.Compile(re.Simplify()); err == nil && len(prog.Inst) > 4000 {
			return nil, badArgument("pattern", "something simpler")
		}
	}
	if err != nil {
		f := badArgument("pattern", "a regular expression (RE2)")
		f.Err = err
		return nil, f
	}
	return regexp.Compile(text)
}

// maxLook bounds how much text a wait looks at.
const maxLook = 1 << 20

func serialWait(ctx context.Context, c *call, in serialWaitArgs) (any, error) {
	re, err := pattern(in.Pattern)
	if err != nil {
		return nil, err
	}
	limit, err := waitTime(in.TimeoutMS, defaultWait)
	if err != nil {
		return nil, err
	}
	args, err := serialArgs{After: in.After, Limit: serialLimit}.check()
	if err != nil {
		return nil, err
	}
	if in.After == -1 {
		r, err := c.place.programLog()
		if err != nil {
			return nil, err
		}
		args.After = r.size()
		r.Close()
	}
	end := args.After
	seen := int64(-1)
	matched, err := c.await(ctx, limit, "waiting for the program's output", func() (bool, error) {
		r, err := c.place.programLog()
		if err != nil {
			return false, err
		}
		defer r.Close()
		size := r.size()
		if size == seen {
			return false, nil
		}
		seen = size
		from := args.After
		if from > size {
			from, args.After = 0, 0
		}
		text, err := r.read(from, maxLook)
		if err != nil {
			return false, faults.Internal(err)
		}
		at := re.FindStringIndex(text)
		if at != nil {
			end = from + int64(at[1])
		}
		return at != nil, nil
	})
	if err != nil {
		return nil, err
	}
	from := args.After
	if matched {
		args.After = max(args.After, end-4<<10)
		args.Limit = int(max(1, end-args.After))
	}
	out, err := c.place.piece(args)
	if err != nil {
		return nil, err
	}
	out.Matched = &matched
	if !matched {
		out.From, out.Next = from, from
	}
	return document("mcp-serial", out)
}
