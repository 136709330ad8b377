package tree

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/check"
)

// TestExportOfZkShell: what zk-shell's mirror writes loads, without the nodes that a server has of
// its own.
func TestExportOfZkShell(t *testing.T) {
	const text = `{
    "/": {"content": "", "acls": []},
    "/app": {
        "content": "aGVsbG8=",
        "acls": [
            {"perms": 1, "id": {"scheme": "world", "id": "anyone"}},
            {"perms": 31, "id": {"scheme": "digest", "id": "user:hash"}}
        ]
    },
    "/app/nothing": {"content": null, "acls": []},
    "/zookeeper": {"content": "", "acls": []},
    "/zookeeper/quota": {"content": "", "acls": []}
}`
	tree, err := Parse("backup.json", JSON, []byte(text))
	check.OK(t, err)
	open := openACL()
	check.Diff(t, tree.Nodes, []view.NodeSpec{
		{Path: "/", Data: []byte{}, ACL: open},
		{Path: "/app", Data: []byte("hello"), ACL: []view.ACL{
			{Perms: 1, Scheme: "world", ID: "anyone"}, {Perms: 31, Scheme: "digest", ID: "user:hash"},
		}},
		{Path: "/app/nothing", ACL: open},
	})
	server := fakezk.Start(t)
	check.OK(t, tree.Load(server))
	check.Equal(t, len(Of(server).Nodes), 3, "nodes of the server")
}

// TestBadExports: the errors name the place.
func TestBadExports(t *testing.T) {
	for text, want := range map[string]string{
		`{"/a": {"content": "?"}}`:                      "base64: illegal",
		`{"/a": {"content": "", "data": ""}}`:           "both content and data",
		`{"/a": {"acl": ["a:b:r"], "acls": []}}`:        "both acl and acls",
		`{"/a": {"acls": {}}}`:                          "expected a list",
		`{"/a": {"acls": ["world:anyone:r"]}}`:          "acls: found",
		`{"/a": {"acls": [{"perms": "r"}]}}`:            "perms: found text r; expected a whole number",
		`{"/a": {"acls": [{"who": 1}]}}`:                `unknown key "who" of acls`,
		`{"/a": {"acls": [{"id": {"scheme": false}}]}}`: "scheme: found",
	} {
		_, err := Parse("backup.json", JSON, []byte(text))
		check.Contains(t, fmt.Sprint(err), "backup.json:1:")
		check.Contains(t, fmt.Sprint(err), want)
	}
}

// TestDamagedFileIsLeftOut by its name: the tree is that before it.
func TestDamagedFileIsLeftOut(t *testing.T) {
	dir := t.TempDir()
	check.OK(t, os.CopyFS(dir, os.DirFS(recorded)))
	name := filepath.Join(dir, "version-2", "log.a")
	data, err := os.ReadFile(name)
	check.OK(t, err)
	data[60] ^= 1
	check.OK(t, os.WriteFile(name, data, 0o666))
	_, err = ReadFile(dir)
	check.Contains(t, fmt.Sprint(err), "log.a: at byte 16: corrupt")
	check.Contains(t, fmt.Sprint(err), "zksim serve --load-without FILE")
	got, err := ReadFile(dir, "log.a")
	check.OK(t, err)
	check.Equal(t, got.Zxid, 9, "the zxid of the snapshot")
	_, err = ReadFile(dir, "log.b")
	check.Contains(t, fmt.Sprint(err), "no file log.b to leave out; expected one of log.a, snapshot.9")
	_, err = ReadFile("app.yaml", "log.a")
	check.Contains(t, fmt.Sprint(err), "app.yaml: is no data directory")
}
