package mcp

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/neovim/go-client/nvim"

	"github.com/stem-hw/stem-hw/faults"
)

var editorTools = []*tool{
	define("editor_state", Observe, look, "Neovim's windows, buffers, cursor and mode.", func(ctx context.Context, c *call, _ none) (any, error) {
		var s editorState
		if err := c.place.lua(ctx, luaState, &s); err != nil {
			return nil, err
		}
		if s.Buffers == nil {
			s.Buffers = []editorBuffer{}
		}
		return document("mcp-editor", s)
	}),
	define("editor_read", Observe, look, "Lines of a file as Neovim has it, saved or not. Give changedtick to editor_edit.", editorRead),
	define("editor_diagnostics", Observe, look, "What language servers and linters say in Neovim.", func(ctx context.Context, c *call, _ none) (any, error) {
		var d []diagnostic
		if err := c.place.lua(ctx, luaDiagnostics, &d); err != nil {
			return nil, err
		}
		for i := range d {
			d[i].Text = outside("a diagnostic", d[i].Message)
			d[i].Message = ""
		}
		if d == nil {
			d = []diagnostic{}
		}
		return document("mcp-diagnostics", map[string]any{"diagnostics": d})
	}),
	define("editor_goto", Assist, act, "Bring the cursor of the person's editor to a place in the card.", editorGoto).idempotent(),
	define("editor_annotate", Assist, act, "Show a note at the end of a line in the editor; the file is not changed. An empty text removes the notes of that line.", editorAnnotate).idempotent(),
	define("editor_edit", Assist, act, "Replace lines of a file in Neovim, as one step that undo takes back. Settings, linker scripts and hidden files are not edited.", editorEdit).contained(),
	define("editor_save", Assist, act, "Write a file that was edited to disk.", editorSave).contained(),
}

type editorState struct {
	Mode     string         `json:"mode" msgpack:"mode"`
	Blocking bool           `json:"blocking" msgpack:"blocking"`
	Path     string         `json:"path" msgpack:"path"`
	Line     int            `json:"line" msgpack:"line"`
	Column   int            `json:"column" msgpack:"column"`
	Buffers  []editorBuffer `json:"buffers" msgpack:"buffers"`
}

type editorBuffer struct {
	Path        string `json:"path" msgpack:"path"`
	Lines       int    `json:"lines" msgpack:"lines"`
	Modified    bool   `json:"modified" msgpack:"modified"`
	Shown       bool   `json:"shown" msgpack:"shown"`
	Changedtick int    `json:"changedtick" msgpack:"changedtick"`
}

type diagnostic struct {
	Path     string  `json:"path" msgpack:"path"`
	Line     int     `json:"line" msgpack:"line"`
	Severity string  `json:"severity" msgpack:"severity"`
	Message  string  `json:"message,omitempty" msgpack:"message"`
	Text     Outside `json:"text" msgpack:"-"`
}

// The scripts are fixed; what a caller says is an argument of theirs.
const (
	luaState = `local m = vim.api.nvim_get_mode()
local shown = {}
for _, w in ipairs(vim.api.nvim_list_wins()) do shown[vim.api.nvim_win_get_buf(w)] = true end
local out, cur = {}, vim.api.nvim_win_get_cursor(0)
for _, b in ipairs(vim.api.nvim_list_bufs()) do
  if vim.api.nvim_buf_is_loaded(b) and vim.bo[b].buftype == '' and #out < 100 then
    out[#out + 1] = { path = vim.api.nvim_buf_get_name(b), lines = vim.api.nvim_buf_line_count(b), modified = vim.bo[b].modified,
      shown = shown[b] or false, changedtick = vim.api.nvim_buf_get_changedtick(b) }
  end
end
return { mode = m.mode, blocking = m.blocking, path = vim.api.nvim_buf_get_name(0), line = cur[1], column = cur[2] + 1, buffers = out }`
	luaDiagnostics = `local names, out = { 'error', 'warning', 'information', 'hint' }, {}
for _, d in ipairs(vim.diagnostic.get()) do
  if #out >= 200 then break end
  out[#out + 1] = { path = vim.api.nvim_buf_get_name(d.bufnr), line = d.lnum + 1, severity = names[d.severity] or '', message = string.sub(d.message or '', 1, 500) }
end
return out`
	// find returns the loaded buffer of a path: of the very name, never a pattern.
	luaFind = `local path = ...
local buf
for _, b in ipairs(vim.api.nvim_list_bufs()) do
  if vim.api.nvim_buf_is_loaded(b) and vim.api.nvim_buf_get_name(b) == path then buf = b end
end
`
	luaLoad = luaFind + `if not buf then
  if vim.fn.filereadable(path) ~= 1 then return { missing = true } end
  buf = vim.fn.bufadd(path)
  local short = vim.o.shortmess
  vim.o.shortmess = short .. 'A'
  pcall(vim.fn.bufload, buf)
  vim.o.shortmess = short
  vim.bo[buf].buflisted = true
end
`
	luaRead = luaFind + `local _, first, last = ...
if not buf then return { missing = true } end
return { lines = vim.api.nvim_buf_get_lines(buf, first, last, false), total = vim.api.nvim_buf_line_count(buf),
  changedtick = vim.api.nvim_buf_get_changedtick(buf), modified = vim.bo[buf].modified }`
	luaGoto = luaLoad + `local _, line, column = ...
local m = vim.api.nvim_get_mode()
if m.blocking or m.mode ~= 'n' then return { busy = m.mode } end
vim.api.nvim_set_current_buf(buf)
vim.api.nvim_win_set_cursor(0, { math.max(1, math.min(line, vim.api.nvim_buf_line_count(buf))), math.max(0, column - 1) })
return { ok = true }`
	luaAnnotate = luaLoad + `local _, line, text = ...
local ns = vim.api.nvim_create_namespace('stem-hw-agent')
if line > vim.api.nvim_buf_line_count(buf) then return { range = true } end
vim.api.nvim_buf_clear_namespace(buf, ns, line - 1, line)
if text ~= '' then vim.api.nvim_buf_set_extmark(buf, ns, line - 1, 0, { virt_text = { { '  ' .. text, 'Comment' } }, virt_text_pos = 'eol' }) end
return { ok = true }`
	luaEdit = luaLoad + `local _, tick, first, last, lines = ...
local m = vim.api.nvim_get_mode()
if m.blocking or m.mode:sub(1, 1) == 'i' then return { busy = m.mode } end
if vim.api.nvim_buf_get_changedtick(buf) ~= tick then return { changed = vim.api.nvim_buf_get_changedtick(buf) } end
if not vim.bo[buf].modifiable or vim.bo[buf].readonly then return { readonly = true } end
if last > vim.api.nvim_buf_line_count(buf) then return { range = true } end
vim.api.nvim_buf_set_lines(buf, first, last, true, lines)
return { ok = true, changedtick = vim.api.nvim_buf_get_changedtick(buf) }`
	luaSave = luaFind + `if not buf then return { missing = true } end
local ok, err = pcall(vim.api.nvim_buf_call, buf, function() vim.cmd('silent noautocmd write') end)
if not ok then return { failed = tostring(err) } end
return { ok = true, changedtick = vim.api.nvim_buf_get_changedtick(buf) }`
	luaNotify = `local text = ...
vim.notify('an agent: ' .. text, vim.log.levels.INFO, { title = 'stem-hw' })
return true`
)

// editorTime bounds how long an editor may take: one that waits for a key does not
// answer.
const editorTime = 5 * time.Second

// lua runs one of the fixed scripts in the session's Neovim.
func (p *Place) lua(ctx context.Context, script string, out any, args ...any) error {
	if err := p.running(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, editorTime)
	defer cancel()
	conn, err := p.Inside.Dial(ctx, p.Record.Folder().Editor())
	if err != nil {
		return noEditor(err.Error())
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	v, err := nvim.New(conn, conn, conn, func(string, ...any) {})
	if err != nil {
		_ = conn.Close()
		return noEditor(err.Error())
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = v.Serve()
	}()
	defer func() {
		_ = v.Close()
		<-served
	}()
	if err := v.ExecLua(script, out, args...); err != nil {
		if ctx.Err() != nil {
			return noEditor("it does not answer; perhaps it waits for a key")
		}
		return noEditor(Clean(err.Error()))
	}
	return nil
}

func noEditor(seen string) *faults.Fault {
	return &faults.Fault{Code: faults.CodeTargetFailed, Status: faults.StatusTarget, Summary: "Neovim cannot be asked", Seen: seen, Try: []string{"look at the window editor"}}
}

// luaAnswer is what the scripts return.
type luaAnswer struct {
	OK          bool     `msgpack:"ok"`
	Missing     bool     `msgpack:"missing"`
	Range       bool     `msgpack:"range"`
	Readonly    bool     `msgpack:"readonly"`
	Busy        string   `msgpack:"busy"`
	Changed     int      `msgpack:"changed"`
	Failed      string   `msgpack:"failed"`
	Lines       []string `msgpack:"lines"`
	Total       int      `msgpack:"total"`
	Changedtick int      `msgpack:"changedtick"`
	Modified    bool     `msgpack:"modified"`
}

func (a *luaAnswer) fault(path string) error {
	f := &faults.Fault{Code: faults.CodeRefused, Status: faults.StatusRefused, Seen: path}
	switch {
	case a.Missing:
		f.Summary = "the editor does not have this file"
	case a.Range:
		f.Summary = "the file has fewer lines"
	case a.Readonly:
		f.Summary = "the file may not be changed in the editor"
	case a.Busy != "":
		f.Summary, f.Seen = "the person is typing", "mode "+Clean(a.Busy)
	case a.Changed != 0:
		f.Summary, f.Wanted = "the file has changed since it was read", "read it again: editor_read"
	case a.Failed != "":
		f.Summary, f.Seen = "Neovim did not do it", Clean(a.Failed)
	default:
		return nil
	}
	return f
}

type readArgs struct {
	Path  string `json:"path" jsonschema:"a path in the card"`
	First int    `json:"first,omitempty" jsonschema:"first line, from 1"`
	Last  int    `json:"last,omitempty" jsonschema:"last line; at most 400 lines"`
}

const maxLines = 400

func editorRead(ctx context.Context, c *call, in readArgs) (any, error) {
	path, err := c.place.cardPath(in.Path)
	if err != nil {
		return nil, err
	}
	if in.First == 0 {
		in.First = 1
	}
	if in.Last == 0 {
		in.Last = in.First + maxLines - 1
	}
	if in.First < 1 || in.Last < in.First || in.Last-in.First >= maxLines {
		return nil, badArgument("first, last", "at most 400 lines, from 1")
	}
	var a luaAnswer
	if err := c.place.lua(ctx, luaRead, &a, path, in.First-1, in.Last); err != nil {
		return nil, err
	}
	out := struct {
		Path string `json:"path"`
		Outside
		First       int  `json:"first"`
		Total       int  `json:"total"`
		Changedtick int  `json:"changedtick"`
		Modified    bool `json:"modified"`
		Open        bool `json:"open"`
	}{Path: path, First: in.First}
	if a.Missing {
		// Not in the editor: as it is on disk.
		text, err := c.place.readCard(in.Path)
		if err != nil {
			return nil, err
		}
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		out.Total = len(lines)
		a.Lines = lines[min(in.First-1, len(lines)):min(in.Last, len(lines))]
	} else {
		out.Total, out.Changedtick, out.Modified, out.Open = a.Total, a.Changedtick, a.Modified, true
	}
	text, cut := clipHead(Clean(strings.Join(a.Lines, "\n")), maxText)
	out.Outside = Outside{Source: "a file of the card", Untrusted: true, Text: text, Truncated: cut}
	return document("mcp-file", out)
}

type gotoArgs struct {
	Path   string `json:"path" jsonschema:"a path in the card"`
	Line   int    `json:"line" jsonschema:"from 1"`
	Column int    `json:"column,omitempty" jsonschema:"from 1"`
}

func editorGoto(ctx context.Context, c *call, in gotoArgs) (any, error) {
	path, err := c.place.cardPath(in.Path)
	if err != nil {
		return nil, err
	}
	if in.Line < 1 || in.Column < 0 {
		return nil, badArgument("line, column", "numbers from 1")
	}
	return c.place.edit(ctx, path, luaGoto, path, in.Line, max(1, in.Column))
}

type annotateArgs struct {
	Path string `json:"path" jsonschema:"a path in the card"`
	Line int    `json:"line" jsonschema:"from 1"`
	Text string `json:"text,omitempty" jsonschema:"one line of at most 160 characters; empty removes"`
}

func editorAnnotate(ctx context.Context, c *call, in annotateArgs) (any, error) {
	path, err := c.place.cardPath(in.Path)
	if err != nil {
		return nil, err
	}
	text := strings.TrimSpace(strings.ReplaceAll(Clean(in.Text), "\n", " "))
	if in.Line < 1 || len(text) > 160 {
		return nil, badArgument("line, text", "a line from 1, and at most 160 characters")
	}
	return c.place.edit(ctx, path, luaAnnotate, path, in.Line, text)
}

// edit runs a script that does something to a file.
func (p *Place) edit(ctx context.Context, path, script string, args ...any) (any, error) {
	var a luaAnswer
	if err := p.lua(ctx, script, &a, args...); err != nil {
		return nil, err
	}
	if err := a.fault(path); err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(p.Record.Card, path)
	if err != nil {
		rel = path
	}
	return document("mcp-edit", map[string]any{"path": rel, "changedtick": a.Changedtick})
}

type editArgs struct {
	Path        string `json:"path" jsonschema:"a path in the card"`
	Changedtick int    `json:"changedtick" jsonschema:"as editor_read gave it: the edit is refused if the file has changed since"`
	First       int    `json:"first" jsonschema:"first line to replace, from 1"`
	Last        int    `json:"last" jsonschema:"last line to replace; first-1 inserts before first"`
	Text        string `json:"text" jsonschema:"the new lines; empty removes the old ones"`
}

func editorEdit(ctx context.Context, c *call, in editArgs) (any, error) {
	path, err := c.place.editable(in.Path)
	if err != nil {
		return nil, err
	}
	if in.First < 1 || in.Last < in.First-1 || len(in.Text) > 64<<10 || strings.ContainsRune(in.Text, 0) {
		return nil, badArgument("first, last, text", "lines from 1, and at most 64 KiB")
	}
	lines := []string{}
	if in.Text != "" {
		lines = strings.Split(strings.TrimSuffix(in.Text, "\n"), "\n")
	}
	return c.place.edit(ctx, path, luaEdit, path, in.Changedtick, in.First-1, in.Last, lines)
}

type saveArgs struct {
	Path string `json:"path" jsonschema:"a path in the card"`
}

func editorSave(ctx context.Context, c *call, in saveArgs) (any, error) {
	path, err := c.place.editable(in.Path)
	if err != nil {
		return nil, err
	}
	return c.place.edit(ctx, path, luaSave, path)
}
