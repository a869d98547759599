package replay

import (
	"fmt"
	"strings"
)

// Step is one command with the output the document shows.
type Step struct {
	// Line is the line of the command in the document, from 1.
	Line int
	// Command is given to sh -c.
	Command string
	// Want are the lines of output, wildcards in them.
	Want []string
}

// Block is one console fence.
type Block struct {
	Line  int
	Steps []Step
}

// Parse returns the console blocks of a Markdown document. name is for errors.
func Parse(name, src string) ([]Block, error) {
	var blocks []Block
	lines := strings.Split(src, "\n")
	for i := 0; i < len(lines); i++ {
		fence, info := openFence(lines[i])
		if fence == "" {
			continue
		}
		start := i
		for i++; i < len(lines) && strings.TrimSpace(lines[i]) != fence; i++ {
			continue
		}
		if i == len(lines) {
			return nil, fmt.Errorf("%s:%d: the fence is never closed", name, start+1)
		}
		if info != "console" {
			continue
		}
		indent := len(lines[start]) - len(strings.TrimLeft(lines[start], " "))
		b, err := parseBlock(name, lines[start+1:i], start+2, indent)
		if err != nil {
			return nil, err
		}
		b.Line = start + 1
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// openFence returns the fence's marks and its info word, "" for other lines.
// Four spaces before it make a line of plain code of it, as in Markdown.
func openFence(line string) (fence, info string) {
	if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") {
		return "", ""
	}
	s := strings.TrimSpace(line)
	n := 0
	for n < len(s) && s[n] == '`' {
		n++
	}
	if n < 3 || strings.Contains(s[n:], "`") {
		return "", ""
	}
	info, _, _ = strings.Cut(strings.TrimSpace(s[n:]), " ")
	return s[:n], info
}

func parseBlock(name string, lines []string, first, indent int) (Block, error) {
	var b Block
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		for n := indent; n > 0 && strings.HasPrefix(line, " "); n-- {
			line = line[1:]
		}
		if cmd, ok := strings.CutPrefix(line, "$ "); ok {
			s := Step{Line: first + i, Command: cmd}
			for strings.HasSuffix(s.Command, `\`) && i+1 < len(lines) {
				i++
				s.Command = strings.TrimSuffix(s.Command, `\`) +
					strings.TrimPrefix(strings.TrimSpace(lines[i]), "> ")
			}
			b.Steps = append(b.Steps, s)
			continue
		}
		if len(b.Steps) == 0 {
			return b, fmt.Errorf("%s:%d: a console block begins with a command (\"$ \")", name, first+i)
		}
		last := &b.Steps[len(b.Steps)-1]
		last.Want = append(last.Want, strings.TrimRight(line, " \t"))
	}
	if len(b.Steps) == 0 {
		return b, fmt.Errorf("%s:%d: an empty console block", name, first)
	}
	return b, nil
}
