package saved

import (
	"fmt"
	"regexp"

	"github.com/goccy/go-yaml/ast"
)

// checkKinds returns an error for a value whose kind does not fit its key. The YAML library alone
// would take 1.5 for 1 and "2" for 2, and it would follow aliases.
func (p scenarioParser) checkKinds() error {
	body, ok := p.doc.Docs[0].Body.(*ast.MappingNode)
	if !ok {
		return p.wrongKind(p.doc.Docs[0].Body, "the scenario", "keys and values")
	}
	for _, entry := range body.Values {
		if err := p.checkKind(entry.Key.String(), entry.Value); err != nil {
			return err
		}
	}
	return nil
}

func (p scenarioParser) checkKind(key string, value ast.Node) error {
	switch key {
	case "clients", "rounds", "goroutines", "servers", "seed":
		n, ok := value.(*ast.IntegerNode)
		if !ok {
			return p.wrongKind(value, key, "a whole number")
		}
		if !plainNumber.MatchString(n.Token.Value) {
			pos := n.Token.Position
			return fmt.Errorf("%s:%d:%d: %s: found %s; expected plain decimal digits", p.name,
				pos.Line, pos.Column, key, n.Token.Value)
		}
		if v, ok := n.Value.(int64); ok && v < 0 && key == "seed" {
			return p.wrongKind(value, key, "a whole number that is not negative")
		}
	case "workload", "implementation", "schedule", "expect", "property", "trace",
		"test", "package", "tags":
		if value.Type() != ast.StringType {
			return p.wrongKind(value, key, "text")
		}
	case "careless":
		if value.Type() != ast.BoolType {
			return p.wrongKind(value, key, "true or false")
		}
	case "plan":
		list, ok := value.(*ast.SequenceNode)
		if !ok {
			return p.wrongKind(value, key, "a list of faults")
		}
		for _, fault := range list.Values {
			if fault.Type() != ast.StringType {
				return p.wrongKind(fault, key, "faults as text")
			}
		}
	}
	return nil
}

// plainNumber excludes 010, which is eight to some readers of YAML, 0x1F and 1_000.
var plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

// kindNames are the kinds of YAML values in words.
var kindNames = map[ast.NodeType]string{
	ast.NullType: "nothing", ast.MappingType: "keys and values",
	ast.MappingValueType: "keys and values",
	ast.SequenceType:     "a list", ast.IntegerType: "a number", ast.FloatType: "a fraction",
	ast.BoolType:   "true or false",
	ast.StringType: "text", ast.LiteralType: "a block of text", ast.AliasType: "an alias",
	ast.AnchorType: "an anchor",
}

func (p scenarioParser) wrongKind(node ast.Node, key, expected string) error {
	found, ok := kindNames[node.Type()]
	if !ok {
		found = node.Type().String()
	}
	pos := node.GetToken().Position
	return fmt.Errorf("%s:%d:%d: %s: found %s; expected %s", p.name, pos.Line, pos.Column, key,
		found, expected)
}
