package tree

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"pgregory.net/rapid"
)

// TestTreeFilesReadBack: a written file reads back as the same tree, in both formats.
func TestTreeFilesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawTree(t)
		for _, format := range []Format{YAML, JSON} {
			text := want.Text(format)
			got, err := Parse("tree", format, text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if diff := diffTrees(want, got); diff != "" {
				t.Fatalf("-want +got:\n%s\n%s", diff, text)
			}
			if again := got.Text(format); string(again) != string(text) {
				t.Fatalf("written again it is\n%s\nnot\n%s", again, text)
			}
		}
	})
}

// diffTrees compares a tree with the tree read from its file.
func diffTrees(want, got Tree) string {
	want.Nodes = simplify(want.Nodes)
	return cmp.Diff(want, got, cmp.AllowUnexported(Tree{}))
}

func drawTree(t *rapid.T) Tree {
	paths := rapid.SliceOfNDistinct(drawPath(), 0, 8, rapid.ID[string]).Draw(t, "paths")
	var specs []view.NodeSpec
	for _, path := range paths {
		spec := view.NodeSpec{Path: path, Data: drawData().Draw(t, "data"), ACL: openACL()}
		if rapid.Bool().Draw(t, "has acl") {
			spec.ACL = rapid.SliceOfN(drawACL(), 1, 3).Draw(t, "acl")
		}
		spec.Kind = rapid.SampledFrom([]view.NodeKind{
			view.PersistentNode, view.ContainerNode, view.TTLNode,
		}).Draw(t, "kind")
		if spec.Kind == view.TTLNode {
			spec.TTL = time.Duration(rapid.Int64Range(1, 1<<40-1).Draw(t, "ttl")) * time.Millisecond
		}
		if rapid.Bool().Draw(t, "has next") {
			spec.Next = rapid.Int32().Draw(t, "next")
		}
		specs = append(specs, spec)
	}
	return Tree{
		Zxid:  rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, maxZxid)).Draw(t, "zxid"),
		Nodes: specs,
	}
}

func drawPath() *rapid.Generator[string] {
	name := rapid.OneOf(
		rapid.StringMatching(`[a-z]{1,4}[0-9]{0,3}`),
		rapid.SampledFrom([]string{
			"a: b", "#c", "it's", `"q"`, "x y", "~", "-", "{}", "[1]", "é", "日本", "\u00a0", `\n`,
			"&a", "*b", "?", "%", "null", "a:", "@", "`", "<<", "e #f",
		}),
		rapid.StringN(1, 6, -1).Filter(func(s string) bool {
			return !strings.Contains(s, "/") && !strings.Contains(s, "\uFFFD")
		}),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return "/" + strings.Join(rapid.SliceOfN(name, 1, 3).Draw(t, "names"), "/")
	})
}

func drawData() *rapid.Generator[[]byte] {
	word := rapid.SampledFrom([]string{
		"a", "key: value", "no", "8080", "- x", "{", "}", "#", " lead", "trail ", "\ttab", "",
		"it's", `"q"`, "|", ">", "---", "...", "é", "\u2028", "\ufeff", "\r", "true", "~", "'",
		"a: b: c", "? k", "/p", ":", "%", "=", "end\\",
	})
	lines := rapid.Map(rapid.SliceOfN(word, 0, 5), func(w []string) []byte {
		return []byte(strings.Join(w, "\n"))
	})
	return rapid.OneOf(
		rapid.Just([]byte(nil)),
		rapid.Map(rapid.String(), func(s string) []byte { return []byte(s) }),
		rapid.SliceOf(rapid.Byte()),
		lines,
	)
}

func drawACL() *rapid.Generator[view.ACL] {
	return rapid.Custom(func(t *rapid.T) view.ACL {
		return view.ACL{
			Perms:  rapid.OneOf(rapid.Int32Range(0, 31), rapid.Int32()).Draw(t, "perms"),
			Scheme: rapid.SampledFrom([]string{"world", "digest", "ip"}).Draw(t, "scheme"),
			ID: rapid.OneOf(
				rapid.SampledFrom([]string{
					"anyone", "user:aGFzaA==", "10.0.0.0/8", "", ":", "a: #b",
				}), rapid.String(),
			).Draw(t, "id"),
		}
	})
}

// TestDumpsLoad: a server that loads a dump equals the dumped server.
func TestDumpsLoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, two := fakezk.New(fakezk.Options{}), fakezk.New(fakezk.Options{})
		defer one.Close()
		defer two.Close()
		check.OK(t, one.Load(drawLoadable(t)))
		want := Of(one)
		format := rapid.SampledFrom([]Format{YAML, JSON}).Draw(t, "format")
		tree, err := Parse("tree", format, want.Text(format))
		check.OK(t, err)
		check.OK(t, tree.Load(two))
		if diff := cmp.Diff(want.Nodes, two.Snapshot()); diff != "" {
			t.Fatal(diff)
		}
		if two.LastZxid() < want.Zxid {
			t.Fatalf("the zxid went back from %d to %d", want.Zxid, two.LastZxid())
		}
	})
}

// drawLoadable draws a tree that a server takes.
func drawLoadable(t *rapid.T) []view.NodeSpec {
	name := rapid.StringMatching(`[a-c#: ]{1,3}`)
	var specs []view.NodeSpec
	for _, names := range rapid.SliceOfNDistinct(rapid.SliceOfN(name, 0, 3), 0, 6,
		func(n []string) string { return strings.Join(n, "/") }).Draw(t, "paths") {
		spec := view.NodeSpec{
			Path: "/" + strings.Join(names, "/"), Data: drawData().Draw(t, "data"),
		}
		spec.Next = rapid.Int32Range(0, 5).Draw(t, "next")
		if kind := rapid.IntRange(0, 3).Draw(t, "kind"); kind == 1 && len(names) > 0 {
			spec.Kind = view.ContainerNode
		} else if kind == 2 && len(names) > 0 {
			spec.Kind, spec.TTL = view.TTLNode, time.Hour
		} else if kind == 3 {
			spec.ACL = []view.ACL{
				{
					Perms: 1, Scheme: "digest", ID: "user:hash",
				}, {Perms: 77, Scheme: "ip", ID: "10.0.0.0/8"},
			}
		}
		specs = append(specs, spec)
	}
	return specs
}

// TestTreeFileIsForPeople shows every way to write a node, and the file that comes out.
func TestTreeFileIsForPeople(t *testing.T) {
	specs := []view.NodeSpec{
		{Path: "/app", Data: []byte("hello"), ACL: openACL()},
		{Path: "/app/config", Data: []byte("{\n  \"a\": 1\n}\n"), ACL: openACL()},
		{Path: "/app/empty", Data: []byte{}, ACL: openACL()},
		{Path: "/app/nothing", ACL: openACL()},
		{Path: "/app/port", Data: []byte("8080"), ACL: openACL()},
		{Path: "/app/raw", Data: []byte{0, 1, 2}, ACL: openACL()},
		{
			Path: "/app/locks", ACL: []view.ACL{
				{Perms: 1, Scheme: "world", ID: "anyone"}, {
					Perms: 31, Scheme: "digest", ID: "user:hash=",
				},
			}, Kind: view.ContainerNode, Next: 12,
		},
		{
			Path: "/app/short", Data: []byte("x"), ACL: []view.ACL{
				{Perms: 0, Scheme: "ip", ID: "10.0.0.0/8"},
			}, Kind: view.TTLNode, TTL: 90 * time.Second,
		},
	}
	for _, format := range []Format{YAML, JSON} {
		want := testrun.ReadFile(t, filepath.Join("testdata", "tree."+string(format)))
		check.Diff(t, string(Tree{Zxid: 4711, Nodes: specs}.Text(format)), want)
	}
}

func TestBadTreeFiles(t *testing.T) {
	for _, c := range []struct{ about, text, want string }{
		{"text", "hello", `tree:1:1: the tree: found text; expected keys and values`},
		{"list", "- a", `tree:1:1: the tree: found a list; expected keys and values`},
		{"relative", "a: b", `tree:1:1: path "a": expected a path that begins with /, or zxid`},
		{"slash at the end", "/a/: b", `tree:1:1: path "/a/": expected a name after each /`},
		{"twice", "/a: b\n/a: c", `tree:2:1: key "/a" is given twice, first in line 1`},
		{"number", "/a: b\n/b: 8080", `tree:2:5: /b: found a number; expected text in quotes`},
		{"truth", "/a:\n  data: true", `tree:2:9: data: found true or false; expected text in quotes`},
		{"data is a list", "/a:\n  data: [x]", `tree:2:9: data: found a list; expected text`},
		{"node is a list", "/a: [x]", `tree:1:5: /a: found a list; expected text`},
		{"unknown key", "/a:\n  dota: x", `tree:2:3: unknown key "dota"; expected data, base64, acl, kind, ttl or next`},
		{
			"both", "/a:\n  data: x\n  base64: eA==",
			`tree:3:3: /a: both data and base64; expected one of them`,
		},
		{"base64", "/a:\n  base64: '***'", `tree:2:11: base64: illegal base64 data at input byte 0; expected base64 with padding`},
		{"acl is text", "/a:\n  acl: world:anyone:r", `tree:2:8: acl: found text; expected a list`},
		{"no acl", "/a:\n  acl: []", `tree:2:8: acl: is empty; expected at least one entry such as world:anyone:cdrwa`},
		{"short acl", "/a:\n  acl:\n    - world:r", `tree:3:7: acl: "world:r"; expected scheme:id:perms with perms out of cdrwa or a number, such as world:anyone:cdrwa`},
		{"perms", "/a:\n  acl:\n    - world:anyone:rx", `tree:3:7: acl: "world:anyone:rx"; expected scheme:id:perms with perms out of cdrwa or a number, such as world:anyone:cdrwa`},
		{"kind", "/a:\n  kind: magic", `tree:2:9: kind: "magic"; expected persistent, container or ttl`},
		{"ttl", "/a:\n  kind: ttl\n  ttl: soon", `tree:3:8: ttl: "soon"; expected a duration of whole milliseconds from 1ms, such as 90s or 1h30m`},
		{"ttl is a number", "/a:\n  kind: ttl\n  ttl: 5", `tree:3:8: ttl: found a number; expected a duration of whole milliseconds from 1ms, such as 90s or 1h30m`},
		{"ttl alone", "/a:\n  ttl: 5s", `tree:2:3: /a: ttl and kind: ttl go together; expected both or neither`},
		{"next", "/a:\n  next: 2147483648", `tree:2:9: next: 2147483648; expected a whole number from -2147483648 to 2147483647`},
		{"next is text", "/a:\n  next: x", `tree:2:9: next: found text; expected a number`},
		{"two documents", "/a: b\n---\n/b: c", `tree:2:1: found a second document; expected one`},
		{"anchor", "/a: &x b\n/b: *x", `tree:1:5: found an anchor; expected plain keys, text and lists`},
		{"bomb", "/a: &a [x, x]\n/b: &b [*a, *a]\n/c: [*b, *b]", `tree:1:5: found an anchor; expected plain keys, text and lists`},
		{"alias", "/a: *x", `tree:1:5: unknown anchor 'x' referenced`},
		{"deep", "/a: [[[[[", `tree:1:9: nested more than 4 levels deep`},
		{"deep list", "- - - - - - a", `tree:1:9: nested more than 4 levels deep`},
		{"tag alone", "!!!...", `tree:1:1: found a tag; expected plain keys, text and lists`},
		{"tag as a node", "/a: !!str", `tree:1:5: found a tag; expected plain keys, text and lists`},
		{"tag at the end", "/a: b\n# c\n!x  ", `tree:3:2: could not find expected ':', while scanning a simple key`},
		{"tab", "/a:\n\tdata: x", `tree:2:1: found character that cannot start any token, while scanning for the next token`},
		{"no end", "/é: [x", `tree:1:6: did not find expected ',' or ']', while parsing a flow sequence`},
		{"control character", "/a: é\n/b: \x01", `tree:2:5: found the character '\x01', which YAML does not have`},
		{"key is a number", "5: x", `tree:1:1: found a key that is a number; expected text, in quotes if it looks like something else`},
		{"key is a list", "? [x]\n: y", `tree:1:3: found a key that is a list; expected text, in quotes if it looks like something else`},
		{"merge key", "<<: {/a: b}", `tree:1:1: path "<<": expected a path that begins with /, or zxid`},
		{"zxid is text", "zxid: x", `tree:1:7: zxid: found text; expected a number`},
		{"zxid below 0", "zxid: -1", `tree:1:7: zxid: -1; expected a whole number from 0 to 4611686018427387903`},
		{"zxid too large", "zxid: 4611686018427387904", `tree:1:7: zxid: 4611686018427387904; expected a whole number from 0 to 4611686018427387903`},
		{"not UTF-8", "/a: \xff", `tree: byte 5 is not UTF-8; data that is not text goes into base64`},
	} {
		_, err := Parse("tree", YAML, []byte(c.text))
		check.Equal(t, fmt.Sprint(err), c.want, "%s: error", c.about)
	}
}

func TestBadJSONTreeFiles(t *testing.T) {
	for _, c := range []struct{ about, text, want string }{
		{"empty", "", `tree:1:1: the JSON ends too early`},
		{"cut off", "{\n  \"/a\": ", `tree:2:9: the JSON ends too early`},
		{"syntax", "{\n  \"/a\": x}", `tree:2:9: invalid character 'x' looking for beginning of value`},
		{
			"twice", "{\"/a\": null,\n \"/a\": null}",
			`tree:2:2: key "/a" is given twice, first in line 1`,
		},
		{"number", "{\"/a\": 1}", `tree:1:8: /a: found a number; expected text in quotes`},
		{"more", "{} {}", `tree:1:4: found more after the end of the JSON value; expected nothing`},
		{"deep", "[[[[[[", `tree:1:6: nested more than 5 levels deep`},
	} {
		_, err := Parse("tree", JSON, []byte(c.text))
		check.Equal(t, fmt.Sprint(err), c.want, "%s: error", c.about)
	}
}

// TestByteOrderMarkIsSkipped: at the beginning only; a last line without a line break counts.
func TestByteOrderMarkIsSkipped(t *testing.T) {
	want := Tree{
		Zxid: 3, Nodes: []view.NodeSpec{{Path: "/a", Data: []byte("x!"), ACL: openACL()}},
	}
	for format, text := range map[Format]string{
		YAML: "zxid: 3\n/a: x!", JSON: `{"zxid": 3, "/a": "x!"}`,
	} {
		got, err := Parse("tree", format, []byte("\xef\xbb\xbf"+text))
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		check.Equal(t, diffTrees(want, got), "", "%s", format)
		if _, err := Parse(
			"tree", format, []byte("\xef\xbb\xbf\xef\xbb\xbf"+text),
		); err == nil {
			t.Errorf("%s: two byte order marks are taken", format)
		}
	}
}

// TestByteOrderMarkWithinText, where the YAML library may take it for one at the start of a line:
// it does if the mark is at the beginning of what it has read at once, some hundred bytes.
func TestByteOrderMarkWithinText(t *testing.T) {
	for n := 480; n < 520; n++ {
		id := strings.Repeat("x", n) + "\ufeff"
		want := Tree{Nodes: []view.NodeSpec{
			{Path: "/a", ACL: []view.ACL{{Scheme: "digest", ID: id}}}, {Path: "/b", ACL: openACL()}}}
		text := want.Text(YAML)
		got, err := Parse("tree", YAML, text)
		check.OK(t, err)
		check.Equal(t, diffTrees(want, got), "", "%d bytes before the mark", n)
	}
	_, err := Parse("tree", YAML, []byte("/a: \"b\ufeff\"\n"))
	check.Contains(t, fmt.Sprint(err), `tree:1:7: found a byte order mark; expected \ufeff, in double`)
}

// TestLongTreeFileIsReadInBatches: the place of an error is right beyond the
// first batch of tokens, and reading takes no quadratic time.
func TestLongTreeFileIsReadInBatches(t *testing.T) {
	var text strings.Builder
	const n = 20000
	want := make([]view.NodeSpec, n)
	for i := range want {
		want[i] = view.NodeSpec{
			Path: "/n" +
				strings.Repeat("x", i%5) + string(rune('a'+i%26)) + time.Duration(i).String(),
			Data: []byte("one\ntwo"), ACL: openACL(),
		}
	}
	text.Write(Tree{Nodes: want}.Text(YAML))
	got, err := Parse("tree", YAML, []byte(text.String()))
	check.OK(t, err)
	if diff := cmp.Diff(want, got.Nodes); diff != "" {
		t.Fatal(diff)
	}
	text.WriteString("/last: 5\n")
	_, err = Parse("tree", YAML, []byte(text.String()))
	check.Equal(t, fmt.Sprint(err), "tree:60002:8: /last: found a number; expected text in quotes")
}

// The tokens of a text take a hundred times its size: a long text is cut into pieces, and one that
// cannot be cut must not have too many.
func TestYAMLIsReadInPieces(t *testing.T) {
	lines := strings.Repeat("  - x\n/a:\r\n\"/b\":\n# /c\r", 20_000)
	whole, last := "", 0
	for line, piece := range pieces(lines) {
		want := 1 + countLines(whole)
		if line != want || len(piece) > pieceBytes+20 || line <= last {
			t.Fatalf("a piece of %d bytes in line %d, want %d", len(piece), line, want)
		}
		whole, last = whole+piece, line
	}
	check.Equal(t, whole, lines, "the pieces are not the text")
	for _, flow := range []string{"\n# x\n---\n{\n", "["} {
		for _, piece := range pieces(flow + lines) {
			check.Equal(t, piece, flow+lines, "a text in flow style is cut")
		}
	}
	for _, size := range []int{mostText, mostText + 1} { // a dump can be read, whatever the data
		tree := Tree{Nodes: []view.NodeSpec{
			{Path: "/a", ACL: openACL(), Data: bytes.Repeat([]byte(",\n"), size)[:size]},
		}}
		again, err := Parse("tree", YAML, tree.Text(YAML))
		check.OK(t, err)
		check.List(t, again.Nodes[0].Data, tree.Nodes[0].Data,
			"%d bytes of data came back as %d", size, len(again.Nodes[0].Data))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text := []byte("/a: [" + strings.Repeat(",", 4<<20) + "]")
	_, err := Parse("tree", YAML, text)
	runtime.ReadMemStats(&after)
	const want = "tree:1:1: more than 1200000 line breaks and signs such as a comma " +
		"without a new path at the start of a line; expected less"
	check.Equal(t, fmt.Sprint(err), want)
	if took := after.TotalAlloc - before.TotalAlloc; took > 4*uint64(len(text)) {
		t.Errorf("%d bytes of commas took %d", len(text), took)
	}
}

// TestLongPathsReadBack: YAML bounds the length of a key on one line, and JSON does not.
func TestLongPathsReadBack(t *testing.T) {
	want := Tree{Nodes: []view.NodeSpec{
		{Path: "/" + strings.Repeat("x", 5000), Data: []byte("y"), ACL: openACL()},
		{Path: "/" + strings.Repeat("#", 5000), ACL: openACL(), Kind: view.ContainerNode},
	}}
	for _, format := range []Format{YAML, JSON} {
		got, err := Parse("tree", format, want.Text(format))
		check.OK(t, err)
		check.Equal(t, diffTrees(want, got), "", "%s", format)
	}
}

// TestFormatIsGuessed: a body of the control endpoint has no name.
func TestFormatIsGuessed(t *testing.T) {
	emoji := Tree{Nodes: []view.NodeSpec{{Path: "/a", Data: []byte("\U0001F600"), ACL: openACL()}}}
	for _, text := range []string{`{"/a": "\ud83d\ude00"}`, "\ufeff\n {\"/a\":\t\"\U0001F600\"}", "/a: \U0001F600"} {
		got, err := Parse("body", "", []byte(text))
		check.OK(t, err)
		check.Equal(t, diffTrees(emoji, got), "", "%s", text)
	}
}

// FuzzParseTree: no text makes the reader panic or hang, and a tree that it reads can be written
// and read back.
func FuzzParseTree(f *testing.F) {
	for _, name := range []string{"tree.yaml", "tree.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		check.OK(f, err)
		f.Add(text, strings.HasSuffix(name, "json"))
	}
	f.Add([]byte("/a: [[["), false)
	f.Add([]byte("- - - -"), false)
	f.Add([]byte("/a: b\n!c"), false)
	f.Add([]byte(`{"/a": {"base64": "AA=="}}`), true)
	f.Fuzz(func(t *testing.T, text []byte, asJSON bool) {
		format := YAML
		if asJSON {
			format = JSON
		}
		tree, err := Parse("tree", format, text)
		if err != nil {
			return
		}
		for _, format := range []Format{YAML, JSON} {
			written := tree.Text(format)
			again, err := Parse("tree", format, written)
			if err != nil {
				t.Fatalf("%v\n%s", err, written)
			}
			if diff := diffTrees(tree, again); diff != "" {
				t.Fatalf("%s\n%s", diff, written)
			}
		}
	})
}

func TestTreeFileIsWrittenWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "tree.yaml")
	tree := Tree{
		Zxid: 7, Nodes: []view.NodeSpec{{Path: "/a", Data: []byte("x"), ACL: openACL()}},
	}
	n, err := WriteFile(name, tree)
	check.OK(t, err)
	if info, err := os.Stat(name); err != nil || info.Size() != int64(n) {
		t.Errorf("said to be %d bytes long: %v, %v", n, info, err)
	}
	got, err := ReadFile(name)
	check.OK(t, err)
	check.Equal(t, diffTrees(tree, got), "")
	taken := filepath.Join(dir, "dir.yaml") // a directory cannot be replaced by a file
	check.OK(t, os.Mkdir(taken, 0o777))
	if _, err := WriteFile(taken, tree); err == nil ||
		!strings.HasPrefix(err.Error(), "write "+taken) {
		t.Errorf("error %v; want one that names the file", err)
	}
	entries, err := os.ReadDir(dir)
	check.OK(t, err)
	check.Equal(t, len(entries), 2, "temporary files are left: %v", entries)
}

// TestLongFilesAreReadWhole makes the mapping longer than it is expected to become.
func TestLongFilesAreReadWhole(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"/first": "` + strings.Repeat("x", 1<<20) + `"`)
	const nodes = 200_000
	for i := range nodes {
		fmt.Fprintf(&b, ",\n%q:null", fmt.Sprint("/", i))
	}
	b.WriteString("}")
	got, err := Parse("long", JSON, []byte(b.String()))
	check.OK(t, err)
	check.Equal(t, len(got.Nodes), nodes+1, "nodes")
	check.Equal(t, got.Nodes[nodes].Path, fmt.Sprint("/", nodes-1), "the last one")
}

// TestLongTextIsLookedAtInParts: a character may lie across two of them.
func TestLongTextIsLookedAtInParts(t *testing.T) {
	for shift := range 4 {
		text := strings.Repeat("x", shift) + strings.Repeat("𝄞", 1<<16)
		check.Equal(t, invalidUTF8([]byte(text)), -1, "whole characters after %d bytes", shift)
		cut := text[:len(text)-1]
		check.Equal(t, invalidUTF8([]byte(cut)), len(text)-4, "the last one is cut off")
		cut = text[:1<<17] + text[1<<17+1:]
		check.Equal(t, invalidUTF8([]byte(cut)) >= 1<<17-4, true, "one byte is missing")
	}
	check.Equal(t, invalidUTF8(bytes.Repeat([]byte{0x80}, 1<<17)), 0, "no character begins")
}
