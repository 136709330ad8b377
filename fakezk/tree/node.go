package tree

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/yamldoc"
)

// treeOf reads the mapping of a tree file, in the order of the file.
func treeOf(v yamldoc.Value) (t Tree, err error) {
	if v.Kind == yamldoc.Nothing {
		return t, nil
	}
	if err := v.Is(yamldoc.Mapping, "the tree"); err != nil {
		return t, err
	}
	if err := v.Unique(); err != nil {
		return t, err
	}
	for _, p := range v.Pairs {
		if p.Key == "zxid" {
			if t.Zxid, err = zxidOfValue(p.Value); err != nil {
				return t, err
			}
			continue
		}
		if err := checkPath(p.Key); err != "" {
			return t, p.At.Wrong("path %q: %s", p.Key, err)
		}
		spec, err := nodeOfValue(p.Key, p.Value)
		if err != nil {
			return t, err
		}
		if isExport(p.Value) && isOwn(spec.Path) {
			continue
		}
		if t.Nodes == nil {
			t.Nodes = make([]view.NodeSpec, 0, len(v.Pairs))
		}
		t.Nodes = append(t.Nodes, spec)
	}
	return t, nil
}

// checkPath is the error in the form of a path, "" for none. The server checks the other rules.
func checkPath(path string) string {
	switch {
	case !strings.HasPrefix(path, "/"):
		return "expected a path that begins with /, or zxid"
	case path != "/" && strings.HasSuffix(path, "/"), strings.Contains(path, "//"):
		return "expected a name after each /"
	}
	return ""
}

// nodeKeys are the keys of a node's mapping.
const nodeKeys = "data, base64, acl, kind, ttl or next"

// nodeOfValue reads one node.
func nodeOfValue(path string, v yamldoc.Value) (view.NodeSpec, error) {
	spec := view.NodeSpec{Path: path, ACL: openACL()}
	switch v.Kind {
	case yamldoc.Nothing:
		return spec, nil
	case yamldoc.Text:
		spec.Data = []byte(v.Text)
		return spec, nil
	case yamldoc.Mapping:
		err := setNodeKeys(&spec, v)
		return spec, err
	}
	return spec, v.Is(yamldoc.Text, path)
}

// setNodeKeys reads the mapping of a node.
func setNodeKeys(spec *view.NodeSpec, v yamldoc.Value) error {
	if err := v.Unique(); err != nil {
		return err
	}
	hasData, hasACL, hasTTL := "", "", false
	for _, p := range v.Pairs {
		switch p.Key {
		case "data", "base64", "content":
			if hasData != "" {
				return p.At.Wrong("%s: both %s and %s; expected one of them", spec.Path, hasData, p.Key)
			}
			hasData = p.Key
		case "acl", "acls":
			if hasACL != "" {
				return p.At.Wrong("%s: both %s and %s; expected one of them", spec.Path, hasACL, p.Key)
			}
			hasACL = p.Key
		}
		hasTTL = hasTTL || p.Key == "ttl"
		if err := setNodeKey(spec, p); err != nil {
			return err
		}
	}
	if hasTTL != (spec.Kind == view.TTLNode) {
		return v.At.Wrong("%s: ttl and kind: ttl go together; expected both or neither", spec.Path)
	}
	return nil
}

// setNodeKey reads one key of a node's mapping.
func setNodeKey(spec *view.NodeSpec, p yamldoc.Pair) (err error) {
	switch p.Key {
	case "data":
		if p.Value.Kind == yamldoc.Nothing {
			return nil
		}
		err = p.Value.Is(yamldoc.Text, "data")
		spec.Data = []byte(p.Value.Text)
	case "base64":
		spec.Data, err = dataOfBase64(p.Value)
	case "acl":
		spec.ACL, err = aclOfValue(p.Value)
	case "content":
		spec.Data, err = dataOfExport(p.Value)
	case "acls":
		spec.ACL, err = aclOfExport(p.Value)
	case "kind":
		spec.Kind, err = kindOfValue(p.Value)
	case "ttl":
		spec.TTL, err = ttlOfValue(p.Value)
	case "next":
		spec.Next, err = nextOfValue(p.Value)
	default:
		err = p.At.Wrong("unknown key %q; expected %s", p.Key, nodeKeys)
	}
	return err
}

func dataOfBase64(v yamldoc.Value) ([]byte, error) {
	if err := v.Is(yamldoc.Text, "base64"); err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.Strict().DecodeString(v.Text)
	if err != nil {
		return nil, v.At.Wrong("base64: %v; expected base64 with padding", err)
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

func kindOfValue(v yamldoc.Value) (view.NodeKind, error) {
	if err := v.Is(yamldoc.Text, "kind"); err != nil {
		return view.PersistentNode, err
	}
	for _, kind := range []view.NodeKind{view.PersistentNode, view.ContainerNode, view.TTLNode} {
		if v.Text == kind.String() {
			return kind, nil
		}
	}
	return view.PersistentNode, v.At.Wrong(
		"kind: %q; expected persistent, container or ttl", v.Text,
	)
}

func ttlOfValue(v yamldoc.Value) (time.Duration, error) {
	const want = "expected a duration of whole milliseconds from 1ms, such as 90s or 1h30m"
	if v.Kind != yamldoc.Text {
		return 0, v.At.Wrong("ttl: found %s; %s", v.Kind, want)
	}
	d, err := time.ParseDuration(v.Text)
	if err != nil || d < time.Millisecond || d%time.Millisecond != 0 {
		return 0, v.At.Wrong("ttl: %q; %s", v.Text, want)
	}
	return d, nil
}

func nextOfValue(v yamldoc.Value) (int32, error) {
	if err := v.Is(yamldoc.Number, "next"); err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(v.Text, 10, 32)
	if err != nil {
		return 0, v.At.Wrong("next: %s; expected a whole number from %d to %d",
			v.Text, math.MinInt32, math.MaxInt32)
	}
	return int32(n), nil
}

// maxZxid is the greatest zxid of a tree file.
const maxZxid = math.MaxInt64 / 2

func zxidOfValue(v yamldoc.Value) (int64, error) {
	if err := v.Is(yamldoc.Number, "zxid"); err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(v.Text, 10, 64)
	if err != nil || n < 0 || n > maxZxid {
		return 0, v.At.Wrong("zxid: %s; expected a whole number from 0 to %d",
			v.Text, int64(maxZxid))
	}
	return n, nil
}
