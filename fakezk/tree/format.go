package tree

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zksim/zksim/fakezk/view"
)

// Text is the tree as a file, with the nodes in the given order. It leaves out what a new server
// has anyway.
func (t Tree) Text(format Format) []byte {
	var b bytes.Buffer
	_ = t.Write(&b, format) // a buffer takes all
	return b.Bytes()
}

// Write writes the text piece by piece, so that it is never in memory as a whole.
func (t Tree) Write(to io.Writer, format Format) error {
	t.Nodes = simplify(t.Nodes)
	w := bufio.NewWriterSize(to, 64<<10)
	if format == JSON {
		jsonTree(w, t)
	} else {
		yamlTree(w, t)
	}
	return w.Flush() // with the first error of all writes
}

// simplify leaves out the parts that a new server has anyway after loading the nodes: a next number
// that follows from the number of children, and an unchanged root.
func simplify(specs []view.NodeSpec) []view.NodeSpec {
	children := map[string]uint32{}
	for _, spec := range specs {
		if spec.Path != "/" {
			children[path.Dir(spec.Path)]++
		}
	}
	var simple []view.NodeSpec
	for _, spec := range specs {
		if uint32(spec.Next) <= children[spec.Path] {
			spec.Next = 0
		}
		emptyData := spec.Data != nil && len(spec.Data) == 0
		if spec.Path == "/" && emptyData && isOpen(spec.ACL) && spec.Next == 0 {
			continue
		}
		simple = append(simple, spec)
	}
	return simple
}

// IsText reports whether data is printable text, which a file can hold as it is.
func IsText(data []byte) bool {
	if !utf8.Valid(data) {
		return false
	}
	for _, r := range string(data) {
		if !unicode.IsPrint(r) && r != '\n' && r != '\t' {
			return false
		}
	}
	return true
}

// A nodeField is a key of a node's mapping with its value.
type nodeField struct {
	key    string
	text   string
	list   []string // nil unless the value is a list
	number bool     // text is a number
}

// mostText is the greatest length of data that are written as text. maxSigns allows any text of
// this length.
const mostText = 1 << 20

// fieldsOf returns the keys of a node's mapping. plain says that a file can have the data, as text
// or null, in place of the mapping.
func fieldsOf(spec view.NodeSpec) (fields []nodeField, plain bool) {
	plain = spec.Data == nil || len(spec.Data) <= mostText && IsText(spec.Data)
	switch {
	case spec.Data == nil:
	case plain:
		fields = append(fields, nodeField{key: "data", text: string(spec.Data)})
	default:
		text := base64.StdEncoding.EncodeToString(spec.Data)
		fields = append(fields, nodeField{key: "base64", text: text})
	}
	rest := len(fields)
	if !isOpen(spec.ACL) {
		fields = append(fields, nodeField{key: "acl", list: ACLTexts(spec.ACL)})
	}
	if spec.Kind != view.PersistentNode {
		fields = append(fields, nodeField{key: "kind", text: spec.Kind.String()})
	}
	if spec.Kind == view.TTLNode {
		fields = append(fields, nodeField{key: "ttl", text: spec.TTL.String()})
	}
	if spec.Next != 0 {
		fields = append(fields, nodeField{
			key: "next", text: strconv.Itoa(int(spec.Next)), number: true,
		})
	}
	return fields, plain && len(fields) == rest
}

func jsonTree(b *bufio.Writer, t Tree) {
	separator := "{"
	if t.Zxid != 0 {
		fmt.Fprintf(b, "{\n  \"zxid\": %d", t.Zxid)
		separator = ","
	}
	for _, spec := range t.Nodes {
		if _, err := b.WriteString(separator + "\n  " + jsonText(spec.Path) + ": "); err != nil {
			return // Flush has the error, too
		}
		separator = ","
		fields, plain := fieldsOf(spec)
		switch {
		case plain && spec.Data == nil:
			b.WriteString("null")
		case plain:
			b.WriteString(jsonText(fields[0].text))
		default:
			jsonNode(b, fields)
		}
	}
	if separator == "{" {
		b.WriteString("{}\n")
		return
	}
	b.WriteString("\n}\n")
}

func jsonNode(b *bufio.Writer, fields []nodeField) {
	b.WriteString("{")
	for i, f := range fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(jsonText(f.key) + ": ")
		switch {
		case f.number:
			b.WriteString(f.text)
		case f.list != nil:
			quoted := make([]string, len(f.list))
			for k, text := range f.list {
				quoted[k] = jsonText(text)
			}
			b.WriteString("[" + strings.Join(quoted, ", ") + "]")
		default:
			b.WriteString(jsonText(f.text))
		}
	}
	b.WriteString("}")
}

// jsonText is text as a JSON string, which is also a YAML string in double quotes.
func jsonText(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic(err) // text has no value that cannot be encoded
	}
	return notInYAML.Replace(strings.TrimSuffix(b.String(), "\n"))
}

// notInYAML escapes the characters of JSON that YAML takes for a line break, does not have, or that
// yamldoc refuses.
var notInYAML = strings.NewReplacer("\u0085", `\u0085`, "\ufeff", `\ufeff`, "\ufffe", `\ufffe`,
	"\uffff", `\uffff`)

func yamlTree(b *bufio.Writer, t Tree) {
	b.WriteString("# A tree of znodes. Serve it with: zksim serve --load FILE\n")
	if t.Zxid != 0 {
		fmt.Fprintf(b, "zxid: %d\n", t.Zxid)
	}
	for _, spec := range t.Nodes {
		if _, err := b.WriteString(yamlWord(spec.Path) + ":"); err != nil {
			return // Flush has the error, too
		}
		fields, plain := fieldsOf(spec)
		switch {
		case plain && spec.Data == nil:
			b.WriteString(" ~\n")
		case plain:
			b.WriteString(" " + yamlText(fields[0].text, "  ") + "\n")
		default:
			b.WriteString("\n")
			yamlNode(b, fields)
		}
	}
}

func yamlNode(b *bufio.Writer, fields []nodeField) {
	for _, f := range fields {
		b.WriteString("  " + f.key + ":")
		switch {
		case f.number || f.key == "ttl": // 90s needs no quotes, though it begins like a number
			b.WriteString(" " + f.text + "\n")
		case f.list != nil:
			b.WriteString("\n")
			for _, text := range f.list {
				b.WriteString("    - " + yamlWord(text) + "\n")
			}
		default:
			b.WriteString(" " + yamlText(f.text, "    ") + "\n")
		}
	}
}

// plainYAML matches text that needs no quotes in YAML. It is stricter than YAML's rules.
var plainYAML = regexp.MustCompile(
	`^[A-Za-z/_][A-Za-z0-9/_.+=-]*(:[A-Za-z0-9/_.+=-]+)*( [A-Za-z0-9/_.+=-]+(:[A-Za-z0-9/_.+=-]+)*)*$`,
)

// yamlKeywords are words that some readers of YAML do not take for text.
var yamlKeywords = []string{"null", "true", "false", "yes", "no", "on", "off", "y", "n"}

// yamlWord is text on one line, in quotes if it needs them.
func yamlWord(text string) string {
	if plainYAML.MatchString(text) && !slices.Contains(yamlKeywords, strings.ToLower(text)) {
		return text
	}
	return jsonText(text)
}

// yamlText is text as a value: a block of several simple lines, or else a word.
func yamlText(text, indent string) string {
	body, newline := strings.CutSuffix(text, "\n")
	lines := strings.Split(body, "\n")
	if len(lines) == 1 {
		return yamlWord(text)
	}
	if !isBlock(lines) {
		return jsonText(text)
	}
	mark := "|-"
	if newline {
		mark = "|"
	}
	for i, line := range lines {
		if line != "" {
			lines[i] = indent + line
		}
	}
	return mark + "\n" + strings.Join(lines, "\n")
}

// isBlock reports whether YAML keeps lines as they are in a block. The first and the last line must
// not be empty, the first one must not begin with a space, and no line may end with a space or have
// a tab.
func isBlock(lines []string) bool {
	for i, line := range lines {
		edge := i == 0 || i == len(lines)-1
		switch {
		case edge && line == "",
			i == 0 && strings.TrimSpace(line) != line,
			strings.TrimRight(line, " ") != line,
			strings.Contains(line, "\t"):
			return false
		}
	}
	return true
}
