package yamldoc

import (
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
	"pgregory.net/rapid"
)

// TestKinds: older readers take some of these texts for something else.
func TestKinds(t *testing.T) {
	for want, values := range map[Kind]string{
		Nothing:  "~ null Null",
		Text:     "no yes 2020-01-02 1:30 1.2.3 '5' \"true\" 0x 1e999999999 -",
		Number:   "0 -7 +7 0x1F 010 1_000 99999999999999999999999",
		Fraction: "1.5 .5 1e3 .inf .NaN",
		Bool:     "true False TRUE",
		List:     "[] [a]",
		Mapping:  "{} {a:}",
	} {
		for _, value := range strings.Fields(values) {
			v, err := Read([]byte("\n{ k: "+value+" }"), 7)
			if value == "-" {
				v, err = Read([]byte("\nk: |\n  -"), 7)
			}
			if err != nil {
				t.Errorf("%s: %v", value, err)
				continue
			}
			p := v.Pairs[0]
			check.Equal(t, p.Value.Kind, want)
			check.Equal(t, p.At.Line, 8)
		}
	}
}

// TestPlainTextReadsBack, and other text needs quotes.
func TestPlainTextReadsBack(t *testing.T) {
	for _, text := range []string{"", "~", "5", "true", "no", "Y", "1:30", "a: b", "a #b", " a", "a:",
		"- a", "? a", "&a", "*a", "!a", "[a", "{a", "|", ">", "%a", "@a", "`a", "'a", `"a`, "a\nb", "<<"} {
		if Plain(text) {
			t.Errorf("%q is said to be plain", text)
		}
	}
	for _, text := range []string{"a", "a b", "/a:b", "a#b", "-a", "?a", "a[0]", "é", "cut client=a"} {
		if !Plain(text) {
			t.Errorf("%q is said to need quotes", text)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching("[ -~]*")).Draw(t, "text")
		if !Plain(text) {
			return
		}
		v, err := Read([]byte("k: "+text+"\nl:\n  - "+text+"\n"), 1)
		if err != nil || v.Pairs[0].Value.Text != text || v.Pairs[1].Value.List[0].Text != text ||
			v.Pairs[0].Value.Kind != Text {
			t.Errorf("%q is read as %+v, %v", text, v, err)
		}
	})
}
