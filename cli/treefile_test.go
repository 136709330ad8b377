package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/view"
	"pgregory.net/rapid"
)

// TestTreeFilesReadBack: a written file reads back as the same tree, in both formats.
func TestTreeFilesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawTree(t)
		for _, format := range []treeFormat{treeYAML, treeJSON} {
			text := formatTree(format, want)
			got, err := parseTree("tree", format, text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if diff := diffTrees(want, got); diff != "" {
				t.Fatalf("-want +got:\n%s\n%s", diff, text)
			}
			if again := formatTree(format, got); string(again) != string(text) {
				t.Fatalf("written again it is\n%s\nnot\n%s", again, text)
			}
		}
	})
}

// diffTrees compares a tree with the tree read from its file.
func diffTrees(want, got treeFile) string {
	want.nodes = simplify(want.nodes)
	return cmp.Diff(want, got, cmp.AllowUnexported(treeFile{}))
}

func drawTree(t *rapid.T) treeFile {
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
	return treeFile{
		zxid:  rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, maxFileZxid)).Draw(t, "zxid"),
		nodes: specs,
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
		if err := one.Load(drawLoadable(t)); err != nil {
			t.Fatal(err)
		}
		want := treeOf(one)
		format := rapid.SampledFrom([]treeFormat{treeYAML, treeJSON}).Draw(t, "format")
		tree, err := parseTree("tree", format, formatTree(format, want))
		if err != nil {
			t.Fatal(err)
		}
		if err := tree.load(two); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.nodes, two.Snapshot()); diff != "" {
			t.Fatal(diff)
		}
		if two.LastZxid() < want.zxid {
			t.Fatalf("the zxid went back from %d to %d", want.zxid, two.LastZxid())
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
	for _, format := range []treeFormat{treeYAML, treeJSON} {
		want, err := os.ReadFile(filepath.Join("testdata", "tree."+string(format)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(
			string(want), string(formatTree(format, treeFile{zxid: 4711, nodes: specs})),
		); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

func TestBadTreeFiles(t *testing.T) {
	for _, c := range []struct{ about, text, want string }{
		{"text", "hello", `tree:1:1: the tree: found text; expected keys and values`},
		{"list", "- a", `tree:1:1: the tree: found a list; expected keys and values`},
		{"relative", "a: b", `tree:1:1: path "a": expected a path that begins with /, or zxid`},
		{"slash at the end", "/a/: b", `tree:1:1: path "/a/": expected a name after each /`},
		{"twice", "/a: b\n/a: c", `tree:2:1: mapping key "/a" already defined at [1:1]`},
		{"number", "/a: b\n/b: 8080", `tree:2:5: /b: found a number; expected text in quotes`},
		{
			"truth", "/a:\n  data: true",
			`tree:2:9: data: found true or false; expected text in quotes`,
		},
		{"data is a list", "/a:\n  data: [x]", `tree:2:9: data: found a list; expected text`},
		{"node is a list", "/a: [x]", `tree:1:5: /a: found a list; expected text`},
		{
			"unknown key", "/a:\n  dota: x",
			`tree:2:3: unknown key "dota"; expected data, base64, acl, kind, ttl or next`,
		},
		{
			"both", "/a:\n  data: x\n  base64: eA==",
			`tree:3:3: /a: both data and base64; expected one of them`,
		},
		{
			"base64", "/a:\n  base64: '***'",
			`tree:2:11: base64: illegal base64 data at input byte 0; expected base64 with padding`,
		},
		{"acl is text", "/a:\n  acl: world:anyone:r", `tree:2:8: acl: found text; expected a list`},
		{
			"no acl", "/a:\n  acl: []",
			`tree:2:8: acl: is empty; expected at least one entry such as world:anyone:cdrwa`,
		},
		{
			"short acl", "/a:\n  acl:\n    - world:r",
			`tree:3:7: acl: "world:r"; expected scheme:id:perms with perms out of cdrwa or a number, such as world:anyone:cdrwa`,
		},
		{
			"perms", "/a:\n  acl:\n    - world:anyone:rx",
			`tree:3:7: acl: "world:anyone:rx"; expected scheme:id:perms with perms out of cdrwa or a number, such as world:anyone:cdrwa`,
		},
		{
			"kind", "/a:\n  kind: magic",
			`tree:2:9: kind: "magic"; expected persistent, container or ttl`,
		},
		{
			"ttl", "/a:\n  kind: ttl\n  ttl: soon",
			`tree:3:8: ttl: "soon"; expected a duration of whole milliseconds from 1ms, such as 90s or 1h30m`,
		},
		{
			"ttl is a number", "/a:\n  kind: ttl\n  ttl: 5",
			`tree:3:8: ttl: found a number; expected a duration of whole milliseconds from 1ms, such as 90s or 1h30m`,
		},
		{
			"ttl alone", "/a:\n  ttl: 5s",
			`tree:2:3: /a: ttl and kind: ttl go together; expected both or neither`,
		},
		{
			"next", "/a:\n  next: 2147483648",
			`tree:2:9: next: 2147483648; expected a whole number from -2147483648 to 2147483647`,
		},
		{"next is text", "/a:\n  next: x", `tree:2:9: next: found text; expected a number`},
		{"two documents", "/a: b\n---\n/b: c", `tree:2:1: found a second document; expected one`},
		{
			"anchor", "/a: &x b\n/b: *x",
			`tree:1:5: found "&"; expected plain keys, text and lists (anchors, tags and the like are not taken)`,
		},
		{"deep", "/a: [[[[[", `tree:1:9: nested more than 4 levels deep`},
		{
			"tag alone", "!!!...",
			`tree:1:1: found "!!!..."; expected plain keys, text and lists (anchors, tags and the like are not taken)`,
		},
		{
			"tag at the end", "/a: b\n# c\n!x",
			`tree:3:1: found "!x"; expected plain keys, text and lists (anchors, tags and the like are not taken)`,
		},
		{
			"tag as a node", "/a: !!str",
			`tree:1:5: found "!!str"; expected plain keys, text and lists (anchors, tags and the like are not taken)`,
		},
		{
			"tag and blanks", "/a: b\n!x  ",
			`tree:2:1: found "!x"; expected plain keys, text and lists (anchors, tags and the like are not taken)`,
		},
		{"zxid is text", "zxid: x", `tree:1:7: zxid: found text; expected a number`},
		{
			"zxid below 0", "zxid: -1",
			`tree:1:7: zxid: -1; expected a whole number from 0 to 4611686018427387903`,
		},
		{
			"zxid too large", "zxid: 4611686018427387904",
			`tree:1:7: zxid: 4611686018427387904; expected a whole number from 0 to 4611686018427387903`,
		},
		{
			"not UTF-8", "/a: \xff",
			`tree: byte 5 is not UTF-8; data that is not text goes into base64`,
		},
	} {
		if _, err := parseTree("tree", treeYAML, []byte(c.text)); err == nil ||
			err.Error() != c.want {
			t.Errorf("%s: error %v; want %s", c.about, err, c.want)
		}
	}
}

func TestBadJSONTreeFiles(t *testing.T) {
	for _, c := range []struct{ about, text, want string }{
		{"empty", "", `tree:1:1: the JSON ends too early`},
		{"cut off", "{\n  \"/a\": ", `tree:2:9: the JSON ends too early`},
		{
			"syntax", "{\n  \"/a\": x}",
			`tree:2:9: invalid character 'x' looking for beginning of value`,
		},
		{
			"twice", "{\"/a\": null,\n \"/a\": null}",
			`tree:2:2: key "/a" is given twice, first in line 1`,
		},
		{"number", "{\"/a\": 1}", `tree:1:8: /a: found a number; expected text in quotes`},
		{"more", "{} {}", `tree:1:4: found more after the end of the JSON value; expected nothing`},
		{"deep", "[[[[[", `tree:1:5: nested more than 4 levels deep`},
	} {
		if _, err := parseTree("tree", treeJSON, []byte(c.text)); err == nil ||
			err.Error() != c.want {
			t.Errorf("%s: error %v; want %s", c.about, err, c.want)
		}
	}
}

// TestByteOrderMarkIsSkipped: at the beginning only; a last line without a line break counts.
func TestByteOrderMarkIsSkipped(t *testing.T) {
	want := treeFile{
		zxid: 3, nodes: []view.NodeSpec{{Path: "/a", Data: []byte("x!"), ACL: openACL()}},
	}
	for format, text := range map[treeFormat]string{
		treeYAML: "zxid: 3\n/a: x!", treeJSON: `{"zxid": 3, "/a": "x!"}`,
	} {
		got, err := parseTree("tree", format, []byte("\xef\xbb\xbf"+text))
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if diff := diffTrees(want, got); diff != "" {
			t.Errorf("%s: %s", format, diff)
		}
		if _, err := parseTree(
			"tree", format, []byte("\xef\xbb\xbf\xef\xbb\xbf"+text),
		); err == nil {
			t.Errorf("%s: two byte order marks are taken", format)
		}
	}
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
	text.Write(yamlTree(treeFile{nodes: want}))
	got, err := parseTree("tree", treeYAML, []byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.nodes); diff != "" {
		t.Fatal(diff)
	}
	text.WriteString("/last: 5\n")
	_, err = parseTree("tree", treeYAML, []byte(text.String()))
	if want := "tree:60002:8: /last: found a number; expected text in quotes"; err == nil ||
		err.Error() != want {
		t.Errorf("error %v; want %s", err, want)
	}
}

// The tokens of a text take a hundred times its size: a long text is cut into pieces, and one that
// cannot be cut must not have too many.
func TestYAMLIsReadInPieces(t *testing.T) {
	lines := strings.Repeat("  - x\n/a:\r\n\"/b\":\n# /c\r", 20_000)
	whole, last := "", 0
	for line, piece := range yamlPieces(lines) {
		if want := 1 + countLines(whole); line != want || len(piece) > yamlPieceBytes+20 || line <= last {
			t.Fatalf("a piece of %d bytes in line %d, want %d", len(piece), line, want)
		}
		whole, last = whole+piece, line
	}
	if whole != lines {
		t.Error("the pieces are not the text")
	}
	for _, flow := range []string{"\n# x\n---\n{\n", "["} {
		for _, piece := range yamlPieces(flow + lines) {
			if piece != flow+lines {
				t.Error("a text in flow style is cut")
			}
		}
	}
	for _, size := range []int{mostText, mostText + 1} { // a dump can be read, whatever the data
		tree := treeFile{nodes: []view.NodeSpec{
			{Path: "/a", ACL: openACL(), Data: bytes.Repeat([]byte(",\n"), size)[:size]},
		}}
		again, err := parseTree("tree", treeYAML, yamlTree(tree))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again.nodes[0].Data, tree.nodes[0].Data) {
			t.Errorf("%d bytes of data came back as %d", size, len(again.nodes[0].Data))
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text := []byte("/a: [" + strings.Repeat(",", 4<<20) + "]")
	_, err := parseTree("tree", treeYAML, text)
	runtime.ReadMemStats(&after)
	const want = "tree:1:1: more than 1200000 line breaks and signs such as a comma " +
		"without a new path at the start of a line; expected less"
	if err == nil || err.Error() != want {
		t.Errorf("got %v; want %s", err, want)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 4*uint64(len(text)) {
		t.Errorf("%d bytes of commas took %d", len(text), took)
	}
}

// FuzzParseTree: no text makes the reader panic or hang, and a tree that it reads can be written
// and read back.
func FuzzParseTree(f *testing.F) {
	for _, name := range []string{"tree.yaml", "tree.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, strings.HasSuffix(name, "json"))
	}
	f.Add([]byte("/a: [[["), false)
	f.Add([]byte("- - - -"), false)
	f.Add([]byte("/a: b\n!c"), false)
	f.Add([]byte(`{"/a": {"base64": "AA=="}}`), true)
	f.Fuzz(func(t *testing.T, text []byte, asJSON bool) {
		format := treeYAML
		if asJSON {
			format = treeJSON
		}
		tree, err := parseTree("tree", format, text)
		if err != nil {
			return
		}
		for _, format := range []treeFormat{treeYAML, treeJSON} {
			written := formatTree(format, tree)
			again, err := parseTree("tree", format, written)
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
	tree := treeFile{
		zxid: 7, nodes: []view.NodeSpec{{Path: "/a", Data: []byte("x"), ACL: openACL()}},
	}
	n, err := writeTreeFile(name, tree)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(name); err != nil || info.Size() != int64(n) {
		t.Errorf("said to be %d bytes long: %v, %v", n, info, err)
	}
	got, err := readTreeFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := diffTrees(tree, got); diff != "" {
		t.Error(diff)
	}
	taken := filepath.Join(dir, "dir.yaml") // a directory cannot be replaced by a file
	if err := os.Mkdir(taken, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := writeTreeFile(taken, tree); err == nil ||
		!strings.HasPrefix(err.Error(), "write "+taken) {
		t.Errorf("error %v; want one that names the file", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 {
		t.Errorf("temporary files are left: %v", entries)
	}
}
