package cli

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/tree"
	"github.com/zksim/zksim/fakezk/view"
)

// The requests of this file do not change the server.

var lookEndpoints = []endpoint{
	{
		Method: "GET", Path: "/server", Does: "the address, whether it runs, and counts",
		handle: getServer,
	},
	{Method: "GET", Path: "/tree", Does: "the nodes", handle: getTree},
	{Method: "GET", Path: "/sessions", Does: "the sessions", handle: getSessions},
	{Method: "GET", Path: "/watches", Does: "the watches", handle: getWatches},
	{
		Method: "GET", Path: "/dump", Takes: "?format=yaml or json",
		Does: "the tree as a tree file", handle: getDump, query: []string{"format"},
	},
}

// serverEntry is a server, or an ensemble. Last is the number of its last record.
type serverEntry struct {
	Namespace string `json:"namespace"`
	Addr      string `json:"addr"`
	Running   bool   `json:"running"`
	Zxid      int64  `json:"zxid"`
	Last      int64  `json:"last"`

	Servers []memberEntry `json:"servers"`
}

// memberEntry is one of several servers.
type memberEntry struct {
	Server  int    `json:"server"`
	Addr    string `json:"addr"`
	Running bool   `json:"running"`
	Leader  bool   `json:"leader"`
}

func getServer(r *controlRequest) (any, error) {
	e := serverEntry{
		Namespace: r.name, Addr: connectString(r.addrs), Zxid: r.LastZxid(), Last: r.lastRecord(),
		Servers: []memberEntry{},
	}
	for i, addr := range r.addrs {
		running := r.Serves(i + 1)
		e.Running = e.Running || running
		e.Servers = append(e.Servers, memberEntry{i + 1, addr, running, r.Leader() == i+1})
	}
	return e, nil
}

// treeEntry is a node. Data is nil for null data, and for data that is not text, which is in
// Base64.
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

func getTree(r *controlRequest) (any, error) {
	nodes := []treeEntry{}
	for _, n := range r.Tree() {
		nodes = append(nodes, treeEntryOf(n))
	}
	return nodes, nil
}

func treeEntryOf(n view.Node) treeEntry {
	e := treeEntry{
		Path: n.Path, Kind: n.Kind.String(), ACL: tree.ACLTexts(n.ACL),
		Czxid: n.Czxid, Mzxid: n.Mzxid, Version: n.Version, Children: n.NumChildren,
	}
	switch {
	case n.Data == nil:
	case tree.IsText(n.Data):
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
	Server     int      `json:"server"`
	Ephemerals []string `json:"ephemerals"`
}

func getSessions(r *controlRequest) (any, error) {
	sessions := []sessionEntry{}
	for _, s := range r.Sessions() {
		sessions = append(sessions, sessionEntry{
			Session: sessionText(s.ID), Name: s.Name, Timeout: s.Timeout.String(),
			Connected: s.Connected, Server: s.Server,
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

func getWatches(r *controlRequest) (any, error) {
	watches := []watchEntry{}
	for _, w := range r.Watches() {
		watches = append(watches, watchEntry{
			Path: w.Path, Children: w.Children, Mode: w.Mode.String(),
			Session: sessionText(w.Session),
		})
	}
	return watches, nil
}

func getDump(r *controlRequest) (any, error) {
	format, err := requestedFormat(r.Request)
	if err != nil {
		return nil, err
	}
	if format == "" && strings.Contains(r.Header.Get("Accept"), "json") {
		format = tree.JSON
	}
	contentType := "application/json"
	if format != tree.JSON {
		format, contentType = tree.YAML, "application/yaml"
	}
	return rawReply{contentType, tree.Of(r.Server).Text(format)}, nil
}

// requestedFormat is the format that ?format= asks for, "" for none.
func requestedFormat(r *http.Request) (tree.Format, error) {
	switch format := tree.Format(r.URL.Query().Get("format")); format {
	case "", tree.YAML, tree.JSON:
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
