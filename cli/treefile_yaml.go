package cli

import (
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// readYAML reads one YAML document that is a mapping, with the places of its parts. It
// takes the part of YAML that JSON has too, in block or flow style: no anchors, tags,
// merge keys or further documents.
func readYAML(data []byte) (fileValue, error) {
	all := fileValue{kind: nothingValue, at: filePlace{1, 1}}
	batches, err := yamlBatches(yamlTokens(string(data)))
	if err != nil {
		return all, err
	}
	for _, tokens := range batches {
		v, err := parseYAML(tokens)
		switch {
		case err != nil:
			return all, err
		case v.kind == nothingValue && len(batches) > 1: // comments
		case all.kind == nothingValue:
			all = v
		case all.kind == mappingValue && v.kind == mappingValue:
			all.pairs = append(all.pairs, v.pairs...)
		default:
			return all, v.at.wrong("found %s after %s; expected one mapping", v.kind, all.kind)
		}
	}
	return all, nil
}

// yamlTokens are the tokens of a text. The library misses a tag at the end of a text that
// has no line break there.
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

// yamlBatch is the number of tokens that the parser gets at once. Its time for a mapping
// grows with the square of the mapping's length.
const yamlBatch = 2000

// yamlBatches cuts a document before some of the keys of its outermost mapping. It refuses
// the parts of YAML that a tree file does not need; the parser is slow for some of these.
func yamlBatches(tokens token.Tokens) ([]token.Tokens, error) {
	var batches []token.Tokens
	start, depth, dashLine := 0, 0, 0
	for i, t := range tokens {
		at := placeOf(t)
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			if depth++; depth > maxFileDepth {
				return nil, at.wrong("nested more than %d levels deep", maxFileDepth)
			}
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.SequenceEntryType:
			if at.line == dashLine {
				return nil, at.wrong("found a list in a list; expected text")
			}
			dashLine = at.line
		case token.AnchorType, token.AliasType, token.TagType,
			token.MergeKeyType, token.DirectiveType, token.MappingKeyType:
			return nil, at.wrong("found %q; expected plain keys, text and lists "+
				"(anchors, tags and the like are not taken)", t.Value)
		case token.DocumentHeaderType, token.DocumentEndType:
			if i > 0 {
				return nil, at.wrong("found a second document; expected one")
			}
		}
		isKey := depth == 0 && at.column == 1 &&
			i+1 < len(tokens) && tokens[i+1].Type == token.MappingValueType
		if i-start >= yamlBatch && isKey {
			batches = append(batches, tokens[start:i])
			start = i
		}
		if i-start > maxYAMLEntry {
			return nil, at.wrong("more than %d words and signs without a new path "+
				"at the start of a line; expected less", maxYAMLEntry)
		}
	}
	return append(batches, tokens[start:]), nil
}

// maxYAMLEntry is the greatest number of tokens between two places to cut.
const maxYAMLEntry = 10 * yamlBatch

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
