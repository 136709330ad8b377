package tree

import (
	"iter"
	"strings"

	"github.com/zksim/zksim/internal/yamldoc"
)

// readYAML reads a YAML document in pieces, as the nodes of the YAML library take a hundred times
// the size of a text.
func readYAML(data []byte) (yamldoc.Value, error) {
	all := yamldoc.Value{Kind: yamldoc.Nothing, At: yamldoc.Place{Line: 1, Column: 1}}
	for line, piece := range pieces(string(data)) {
		if err := checkSigns(line, piece); err != nil {
			return all, err
		}
		v, err := yamldoc.Read([]byte(piece), line)
		switch {
		case err != nil:
			return all, err
		case all.Kind == yamldoc.Nothing:
			all = v
		case v.Kind == yamldoc.Nothing: // comments
		case all.Kind == yamldoc.Mapping && v.Kind == yamldoc.Mapping:
			all.Pairs = append(all.Pairs, v.Pairs...)
		default:
			return all, v.At.Wrong("found %s after %s; expected one mapping", v.Kind, all.Kind)
		}
	}
	return all, nil
}

// pieceBytes is the least length in bytes of every piece but the last.
const pieceBytes = 64 << 10

// pieces cuts a text into pieces, and yields them with the numbers of their first lines. A cut
// comes before a line that begins with a path. In block style such a line is a key of the outermost
// mapping: the lines of all other values are indented.
func pieces(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		start, line := 0, 1
		for at := range text {
			if at-start < pieceBytes || text[at-1] != '\n' ||
				strings.IndexByte(`/"'`, text[at]) < 0 {
				continue
			}
			if start == 0 && isFlowStyle(text) {
				break
			}
			piece := text[start:at]
			if !yield(line, piece) {
				return
			}
			start, line = at, line+countLines(piece)
		}
		yield(line, text[start:])
	}
}

// isFlowStyle reports whether a document begins with a bracket.
func isFlowStyle(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && line != "---" && line[0] != '#' {
			return line[0] == '{' || line[0] == '['
		}
	}
	return false
}

// countLines counts line breaks as the YAML library does.
func countLines(text string) int {
	n := -strings.Count(text, "\r\n")
	for _, line := range []string{"\n", "\r", "\u0085", "\u2028", "\u2029"} {
		n += strings.Count(text, line)
	}
	return n
}

// maxSigns is the greatest number of signs in a piece, more than any node of 1 MiB has.
const maxSigns = 1_200_000

// checkSigns refuses a piece with more than maxSigns signs. A node of the YAML library has at least
// one sign, and takes 300 bytes of memory.
func checkSigns(line int, piece string) error {
	n := 0
	for i := range len(piece) {
		if strings.IndexByte(",:#-?[]{}'\"\r\n", piece[i]) >= 0 {
			n++
		}
	}
	if n > maxSigns {
		return yamldoc.Place{Line: line, Column: 1}.Wrong("more than %d line breaks and signs such "+
			"as a comma without a new path at the start of a line; expected less", maxSigns)
	}
	return nil
}
