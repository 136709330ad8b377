package yamldoc

import (
	"regexp"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// not11 matches text that readers of YAML 1.1 take for a switch, or for a number of base 60.
var not11 = regexp.MustCompile(`^((?i:y|yes|n|no|on|off)|\d?\d:\d?\d)$`)

// Plain reports whether a text is text, and the same text, as a value without quotes.
func Plain(text string) bool {
	notPrintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if strings.ContainsFunc(text, notPrintable) || not11.MatchString(text) {
		return false
	}
	var doc yaml.Node
	if yaml.Load([]byte("- "+text), &doc) != nil || doc.Content[0].Kind != yaml.SequenceNode {
		return false
	}
	n := doc.Content[0].Content[0]
	return n.Kind == yaml.ScalarNode && n.Tag == "!!str" && n.Value == text
}
