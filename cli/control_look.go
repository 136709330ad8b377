package cli

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/view"
)

// The requests of this file do not change the server.

func (c *controlServer) getIndex(*http.Request) (any, error) {
	return map[string]any{
		"zksim": "control endpoint of an in-memory ZooKeeper", "endpoints": endpoints,
	}, nil
}

// treeEntry is a node. Data is nil for null data, and for data that is not text, which is
// in Base64.
type treeEntry struct {
	Path     string   `json:"path"`
	Data     *string  `json:"data"`
	Base64   string   `json:"base64,omitempty"`
	Kind     string   `json:"kind"`
	TTL      string   `json:"ttl,omitempty"`
	ACL      []string `json:"acl"`
	Owner    string   `json:"owner,omitempty"`
	Czxid    int64    `json:"czxid"`
	Mzxid    int64    `json:"mzxid"`
	Version  int32    `json:"version"`
	Children int      `json:"children"`
}

func (c *controlServer) getTree(*http.Request) (any, error) {
	tree := []treeEntry{}
	for _, n := range c.server.Tree() {
		tree = append(tree, treeEntryOf(n))
	}
	return tree, nil
}

func treeEntryOf(n view.Node) treeEntry {
	e := treeEntry{
		Path: n.Path, Kind: n.Kind.String(), ACL: aclTexts(n.ACL),
		Czxid: n.Czxid, Mzxid: n.Mzxid, Version: n.Version, Children: n.NumChildren,
	}
	switch {
	case n.Data == nil:
	case isText(n.Data):
		text := string(n.Data)
		e.Data = &text
	default:
		e.Base64 = base64.StdEncoding.EncodeToString(n.Data)
	}
	if n.Owner != 0 {
		e.Owner = sessionText(n.Owner)
	}
	if n.TTL != 0 {
		e.TTL = n.TTL.String()
	}
	return e
}

type sessionEntry struct {
	Session    string   `json:"session"`
	Name       string   `json:"name"`
	Timeout    string   `json:"timeout"`
	Connected  bool     `json:"connected"`
	Ephemerals []string `json:"ephemerals"`
}

func (c *controlServer) getSessions(*http.Request) (any, error) {
	sessions := []sessionEntry{}
	for _, s := range c.server.Sessions() {
		sessions = append(sessions, sessionEntry{
			Session: sessionText(s.ID), Name: s.Name, Timeout: s.Timeout.String(),
			Connected:  s.Connected,
			Ephemerals: append([]string{}, s.Ephemerals...),
		})
	}
	return sessions, nil
}

// sessionText is a session's id as ZooKeeper prints it.
func sessionText(id int64) string { return fmt.Sprintf("0x%x", uint64(id)) }

type watchEntry struct {
	Path     string `json:"path"`
	Children bool   `json:"children"`
	Mode     string `json:"mode"`
	Session  string `json:"session"`
}

func (c *controlServer) getWatches(*http.Request) (any, error) {
	watches := []watchEntry{}
	for _, w := range c.server.Watches() {
		watches = append(watches, watchEntry{
			Path: w.Path, Children: w.Children, Mode: w.Mode.String(),
			Session: sessionText(w.Session),
		})
	}
	return watches, nil
}

type faultEntry struct {
	Line    string `json:"line"`
	Matched int    `json:"matched"`
	Fired   bool   `json:"fired"`
}

func (c *controlServer) getFaults(*http.Request) (any, error) {
	faults := []faultEntry{}
	for _, f := range c.server.Faults() {
		faults = append(faults, faultEntry{f.Fault.String(), f.Matched, f.Fired})
	}
	return faults, nil
}

func (c *controlServer) getDump(r *http.Request) (any, error) {
	format, err := requestedFormat(r)
	if err != nil {
		return nil, err
	}
	if format == "" && strings.Contains(r.Header.Get("Accept"), "json") {
		format = treeJSON
	}
	contentType := "application/json"
	if format != treeJSON {
		format, contentType = treeYAML, "application/yaml"
	}
	return rawReply{contentType, formatTree(format, treeOf(c.server))}, nil
}

// requestedFormat is the format that ?format= asks for, "" for none.
func requestedFormat(r *http.Request) (treeFormat, error) {
	switch format := treeFormat(r.URL.Query().Get("format")); format {
	case "", treeYAML, treeJSON:
		return format, nil
	default:
		return "", failure(http.StatusBadRequest, "format=%s: expected yaml or json", format)
	}
}

// findSession finds a session by its name, or by its id in hexadecimal after 0x or in decimal.
func findSession(server *fakezk.Server, text string) (int64, error) {
	for _, s := range server.Sessions() {
		if text == s.Name || text == sessionText(s.ID) || text == fmt.Sprint(s.ID) {
			return s.ID, nil
		}
	}
	return 0, failure(http.StatusNotFound, "no session %q; GET /sessions lists them", text)
}
