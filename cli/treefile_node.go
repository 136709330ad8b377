package cli

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/view"
)

// treeOfValue reads the mapping of a tree file, in the order of the file.
func treeOfValue(v fileValue) (tree treeFile, err error) {
	if v.kind == nothingValue {
		return tree, nil
	}
	if err := v.is(mappingValue, "the tree"); err != nil {
		return tree, err
	}
	if err := v.checkKeys(); err != nil {
		return tree, err
	}
	for _, p := range v.pairs {
		if p.key == "zxid" {
			if tree.zxid, err = zxidOfValue(p.value); err != nil {
				return tree, err
			}
			continue
		}
		if err := checkTreePath(p.key); err != "" {
			return tree, p.at.wrong("path %q: %s", p.key, err)
		}
		spec, err := nodeOfValue(p.key, p.value)
		if err != nil {
			return tree, err
		}
		tree.nodes = append(tree.nodes, spec)
	}
	return tree, nil
}

// checkTreePath is the error in the form of a path, "" for none. The server checks the other rules.
func checkTreePath(path string) string {
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
func nodeOfValue(path string, v fileValue) (view.NodeSpec, error) {
	spec := view.NodeSpec{Path: path, ACL: openACL()}
	switch v.kind {
	case nothingValue:
		return spec, nil
	case textValue:
		spec.Data = []byte(v.text)
		return spec, nil
	case mappingValue:
		err := setNodeKeys(&spec, v)
		return spec, err
	}
	return spec, v.is(textValue, path)
}

// setNodeKeys reads the mapping of a node.
func setNodeKeys(spec *view.NodeSpec, v fileValue) error {
	if err := v.checkKeys(); err != nil {
		return err
	}
	hasData, hasTTL := false, false
	for _, p := range v.pairs {
		if p.key == "data" || p.key == "base64" {
			if hasData {
				return p.at.wrong("%s: both data and base64; expected one of them", spec.Path)
			}
			hasData = true
		}
		hasTTL = hasTTL || p.key == "ttl"
		if err := setNodeKey(spec, p); err != nil {
			return err
		}
	}
	if hasTTL != (spec.Kind == view.TTLNode) {
		return v.at.wrong("%s: ttl and kind: ttl go together; expected both or neither", spec.Path)
	}
	return nil
}

// setNodeKey reads one key of a node's mapping.
func setNodeKey(spec *view.NodeSpec, p filePair) (err error) {
	switch p.key {
	case "data":
		if p.value.kind == nothingValue {
			return nil
		}
		err = p.value.is(textValue, "data")
		spec.Data = []byte(p.value.text)
	case "base64":
		spec.Data, err = dataOfBase64(p.value)
	case "acl":
		spec.ACL, err = aclOfValue(p.value)
	case "kind":
		spec.Kind, err = kindOfValue(p.value)
	case "ttl":
		spec.TTL, err = ttlOfValue(p.value)
	case "next":
		spec.Next, err = nextOfValue(p.value)
	default:
		err = p.at.wrong("unknown key %q; expected %s", p.key, nodeKeys)
	}
	return err
}

func dataOfBase64(v fileValue) ([]byte, error) {
	if err := v.is(textValue, "base64"); err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.Strict().DecodeString(v.text)
	if err != nil {
		return nil, v.at.wrong("base64: %v; expected base64 with padding", err)
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

func kindOfValue(v fileValue) (view.NodeKind, error) {
	if err := v.is(textValue, "kind"); err != nil {
		return view.PersistentNode, err
	}
	for _, kind := range []view.NodeKind{view.PersistentNode, view.ContainerNode, view.TTLNode} {
		if v.text == kind.String() {
			return kind, nil
		}
	}
	return view.PersistentNode, v.at.wrong(
		"kind: %q; expected persistent, container or ttl", v.text,
	)
}

func ttlOfValue(v fileValue) (time.Duration, error) {
	const want = "expected a duration of whole milliseconds from 1ms, such as 90s or 1h30m"
	if v.kind != textValue {
		return 0, v.at.wrong("ttl: found %s; %s", v.kind, want)
	}
	d, err := time.ParseDuration(v.text)
	if err != nil || d < time.Millisecond || d%time.Millisecond != 0 {
		return 0, v.at.wrong("ttl: %q; %s", v.text, want)
	}
	return d, nil
}

func nextOfValue(v fileValue) (int32, error) {
	if err := v.is(numberValue, "next"); err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(v.text, 10, 32)
	if err != nil {
		return 0, v.at.wrong("next: %s; expected a whole number from %d to %d",
			v.text, math.MinInt32, math.MaxInt32)
	}
	return int32(n), nil
}

// maxFileZxid is the greatest zxid of a tree file.
const maxFileZxid = math.MaxInt64 / 2

func zxidOfValue(v fileValue) (int64, error) {
	if err := v.is(numberValue, "zxid"); err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(v.text, 10, 64)
	if err != nil || n < 0 || n > maxFileZxid {
		return 0, v.at.wrong("zxid: %s; expected a whole number from 0 to %d",
			v.text, int64(maxFileZxid))
	}
	return n, nil
}
