package mcp

import (
	"context"
	"encoding/json"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/faults"
)

var boardTools = []*tool{
	define("board_list", Observe, look, "The boards and probes there are; none is opened.", func(ctx context.Context, c *call, _ none) (any, error) {
		return c.srv.opt.Verb(ctx, "list")
	}),
	define("probe_list", Observe, look, "The debug probes there are; none is opened.", probeList),
	define("board_info", Observe, look, "What is known of a board; it is not restarted.", boardInfo),
	define("image_inspect", Observe, look, "What a firmware file in the card is: format, architecture, memory, metadata.", func(ctx context.Context, c *call, in saveArgs) (any, error) {
		path, err := c.place.cardPath(in.Path)
		if err != nil {
			return nil, err
		}
		return c.srv.opt.Verb(ctx, "info", "--", path)
	}),
}

func probeList(ctx context.Context, c *call, _ none) (any, error) {
	doc, err := c.srv.opt.Verb(ctx, "list")
	if err != nil {
		return nil, err
	}
	var all struct {
		Boards []json.RawMessage `json:"boards"`
		USB    bool              `json:"usb"`
	}
	if err := json.Unmarshal(doc, &all); err != nil {
		return nil, faults.Internal(err)
	}
	probes := []json.RawMessage{}
	for _, b := range all.Boards {
		var one struct{ Role board.Role }
		if json.Unmarshal(b, &one) == nil && one.Role == board.RoleProbe {
			probes = append(probes, b)
		}
	}
	all.Boards = probes
	return document("list", all)
}

type boardArgs struct {
	Board string `json:"board,omitempty" jsonschema:"a nickname, the beginning of a serial number, sim or sim:NAME; the session's own if not given"`
}

// selector is the board a caller named, or the session's.
func (p *Place) selector(name string) (string, error) {
	if name == "" {
		name = p.Record.Board
	}
	if name == "" {
		f := badArgument("board", "a board; this session has a simulated one that is thrown away")
		f.Try = []string{"board_list"}
		return "", f
	}
	if _, err := board.Parse(name); err != nil || name[0] == '-' || len(name) > 128 {
		return "", badArgument("board", "a nickname, the beginning of a serial number, sim or sim:NAME")
	}
	return name, nil
}

func boardInfo(ctx context.Context, c *call, in boardArgs) (any, error) {
	name, err := c.place.selector(in.Board)
	if err != nil {
		return nil, err
	}
	return c.srv.opt.Verb(ctx, "info", "--board="+name)
}
