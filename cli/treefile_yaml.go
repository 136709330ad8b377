package cli

import (
	"errors"
	"iter"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// readYAML reads one YAML document that is a mapping, with the places of its parts. It takes the
// part of YAML that JSON has too, in block or flow style: no anchors, tags, merge keys or further
// documents.
func readYAML(data []byte) (fileValue, error) {
	r := yamlReader{all: fileValue{kind: nothingValue, at: filePlace{1, 1}}}
	for line, piece := range yamlPieces(string(data)) {
		if err := checkSigns(line, piece); err != nil {
			return r.all, err
		}
		tokens := yamlTokens(piece)
		for _, t := range tokens {
			t.Position.Line += line - 1
		}
		if err := r.takeAll(tokens); err != nil {
			return r.all, err
		}
	}
	return r.all, nil
}

// yamlPieceBytes is the least length in bytes of every piece but the last.
const yamlPieceBytes = 64 << 10

// yamlPieces cuts a text into pieces, as the tokens of a text take a hundred times its size. A cut
// comes before a line that begins with a path. yamlPieces yields the pieces with the numbers of
// their first lines. In block style such a line is a key of the outermost mapping: the lines of all
// other values are indented.
func yamlPieces(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		start, line := 0, 1
		for at := range text {
			if at-start < yamlPieceBytes || text[at-1] != '\n' ||
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

// countLines counts line breaks as the library does.
func countLines(text string) int {
	return strings.Count(text, "\n") + strings.Count(text, "\r") - strings.Count(text, "\r\n")
}

// maxYAMLSigns is the greatest number of signs in a piece, more than any node of 1 MiB has.
const maxYAMLSigns = 1_200_000

// checkSigns refuses a piece with more than maxYAMLSigns signs. Most tokens have one sign, and a
// token takes 300 bytes of memory.
func checkSigns(line int, piece string) error {
	n := 0
	for i := range len(piece) {
		if strings.IndexByte(",:#-?[]{}'\"\r\n", piece[i]) >= 0 {
			n++
		}
	}
	if n > maxYAMLSigns {
		return filePlace{line, 1}.wrong("more than %d line breaks and signs such as a comma "+
			"without a new path at the start of a line; expected less", maxYAMLSigns)
	}
	return nil
}

// yamlTokens are the tokens of a text. The library misses a tag at the end of a text that has no
// line break there.
func yamlTokens(text string) token.Tokens {
	tokens := lexer.Tokenize(text)
	lastLine := text[strings.LastIndexByte(text, '\n')+1:]
	if strings.Contains(lastLine, "!") {
		if whole := lexer.Tokenize(text + "\n"); len(whole) > len(tokens) {
			return whole
		}
	}
	return tokens
}

// A yamlReader parses a document in pieces, which it cuts before some of the keys of the outermost
// mapping: the parser's time for a mapping grows with the square of the mapping's length.
type yamlReader struct {
	all      fileValue    // of the pieces parsed
	piece    token.Tokens // to be parsed next
	depth    int          // of brackets
	dashLine int          // with the last dash
}

const (
	// yamlPiece is the least number of tokens of every piece but the last.
	yamlPiece = 200
	// maxYAMLEntry is the greatest number of tokens of a piece.
	maxYAMLEntry = 20_000
)

// takeAll takes the tokens of a piece of the text.
func (r *yamlReader) takeAll(tokens token.Tokens) error {
	for i, t := range tokens {
		var next *token.Token
		if i+1 < len(tokens) {
			next = tokens[i+1]
		}
		if err := r.take(t, next); err != nil {
			return err
		}
	}
	return r.parse()
}

// take adds a token. next is the token after it, nil at the end. It refuses the parts of YAML that
// a tree file does not need, since the parser is slow for some of these.
func (r *yamlReader) take(t, next *token.Token) error {
	if err := r.check(t); err != nil {
		return err
	}
	isKey := r.depth == 0 && t.Position.Column == 1 &&
		next != nil && next.Type == token.MappingValueType
	if len(r.piece) >= yamlPiece && isKey {
		if err := r.parse(); err != nil {
			return err
		}
	}
	if len(r.piece) > maxYAMLEntry {
		return placeOf(t).wrong("more than %d words and signs without a new path "+
			"at the start of a line; expected less", maxYAMLEntry)
	}
	r.piece = append(r.piece, t)
	return nil
}

func (r *yamlReader) check(t *token.Token) error {
	at := placeOf(t)
	switch t.Type {
	case token.MappingStartType, token.SequenceStartType:
		if r.depth++; r.depth > maxFileDepth {
			return at.wrong("nested more than %d levels deep", maxFileDepth)
		}
	case token.MappingEndType, token.SequenceEndType:
		r.depth--
	case token.SequenceEntryType:
		if at.line == r.dashLine {
			return at.wrong("found a list in a list; expected text")
		}
		r.dashLine = at.line
	case token.AnchorType, token.AliasType, token.TagType,
		token.MergeKeyType, token.DirectiveType, token.MappingKeyType:
		return at.wrong("found %q; expected plain keys, text and lists "+
			"(anchors, tags and the like are not taken)", t.Value)
	case token.DocumentHeaderType, token.DocumentEndType:
		if r.all.kind != nothingValue || len(r.piece) > 0 {
			return at.wrong("found a second document; expected one")
		}
	}
	return nil
}

// parse parses the piece.
func (r *yamlReader) parse() error {
	v, err := parseYAML(r.piece)
	r.piece = nil
	switch {
	case err != nil:
		return err
	case r.all.kind == nothingValue:
		r.all = v
	case v.kind == nothingValue: // comments
	case r.all.kind == mappingValue && v.kind == mappingValue:
		r.all.pairs = append(r.all.pairs, v.pairs...)
	default:
		return v.at.wrong("found %s after %s; expected one mapping", v.kind, r.all.kind)
	}
	return nil
}

func parseYAML(tokens token.Tokens) (fileValue, error) {
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return fileValue{}, yamlFileError(err)
	}
	nothing := fileValue{kind: nothingValue, at: filePlace{1, 1}}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nothing, nil
	}
	if _, comment := file.Docs[0].Body.(*ast.CommentGroupNode); comment {
		return nothing, nil
	}
	return yamlValue(file.Docs[0].Body, 0)
}

// yamlFileError is an error of the YAML library as a fileError, if it has a place.
func yamlFileError(err error) error {
	var at yaml.Error
	if errors.As(err, &at) && at.GetToken() != nil {
		return placeOf(at.GetToken()).wrong("%s", at.GetMessage())
	}
	return err
}

func placeOf(t *token.Token) filePlace {
	if t == nil || t.Position == nil {
		return filePlace{1, 1}
	}
	return filePlace{t.Position.Line, t.Position.Column}
}

func yamlValue(node ast.Node, depth int) (fileValue, error) {
	v := fileValue{kind: otherValue}
	if node == nil {
		return fileValue{kind: nothingValue, at: filePlace{1, 1}}, nil
	}
	v.at = placeOf(node.GetToken())
	if depth > maxFileDepth {
		return v, v.at.wrong("nested more than %d levels deep", maxFileDepth)
	}
	switch node := node.(type) {
	case *ast.NullNode:
		v.kind = nothingValue
	case *ast.StringNode:
		v.kind, v.text = textValue, node.Value
	case *ast.LiteralNode:
		v.kind, v.text = textValue, node.Value.Value
	case *ast.BoolNode:
		v.kind, v.text = boolValue, node.GetToken().Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		v.kind, v.text = numberValue, node.GetToken().Value
	case *ast.SequenceNode:
		return yamlList(v, node, depth)
	case *ast.MappingNode:
		return yamlMapping(v, node.Values, depth)
	case *ast.MappingValueNode:
		return yamlMapping(v, []*ast.MappingValueNode{node}, depth)
	}
	return v, nil
}

func yamlList(v fileValue, node *ast.SequenceNode, depth int) (fileValue, error) {
	v.kind = listValue
	for _, n := range node.Values {
		element, err := yamlValue(n, depth+1)
		if err != nil {
			return v, err
		}
		v.list = append(v.list, element)
	}
	return v, nil
}

func yamlMapping(v fileValue, values []*ast.MappingValueNode, depth int) (fileValue, error) {
	v.kind = mappingValue
	for i, n := range values {
		at := placeOf(n.Key.GetToken())
		// the library's place of a block mapping is its first colon
		if i == 0 && v.at.line == at.line {
			v.at.column = min(v.at.column, at.column)
		}
		key, ok := n.Key.(*ast.StringNode)
		if !ok {
			return v, at.wrong("found a key that is not text; " +
				"expected text, in quotes if it looks like something else")
		}
		value, err := yamlValue(n.Value, depth+1)
		if err != nil {
			return v, err
		}
		v.pairs = append(v.pairs, filePair{key.Value, at, value})
	}
	return v, nil
}
