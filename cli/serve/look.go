package serve

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/tree"
	"github.com/zksim/zksim/fakezk/view"
)

// The requests of this file do not change the server.

type endpointEntry struct {
	Method string `json:"method" enum:"GET,POST,PUT,DELETE"`
	Path   string `json:"path" about:"its last part may be {name}, or {name...} for the whole rest"`
	Takes  string `json:"takes,omitempty"`
	Does   string `json:"does"`
}

type indexEntry struct {
	Endpoints    []endpointEntry `json:"endpoints"`
	InNamespaces string          `json:"in namespaces"`
	Zksim        string          `json:"zksim"`
}

// index is the list of the endpoints.
func index() indexEntry {
	list := indexEntry{
		Zksim:        "control endpoint of an in-memory ZooKeeper",
		InNamespaces: "/namespaces/NAME before a path is the same for the server of a namespace",
	}
	for _, e := range endpoints {
		list.Endpoints = append(list.Endpoints, endpointEntry{
			e.method, strings.TrimSuffix(e.path, "{$}"), e.takes, e.does,
		})
	}
	return list
}

func getIndex(r *request) (indexEntry, error) { return r.control.index, nil }

//go:embed ui.html
var page []byte

func getUI(*request) (rawReply, error) { return rawText("text/html; charset=utf-8", page), nil }

func getOpenAPI(r *request) (rawReply, error) {
	return rawText("application/yaml", r.control.openAPI), nil
}

// serverEntry is a server, or an ensemble.
type serverEntry struct {
	Namespace string `json:"namespace" about:"empty for the server of zksim serve"`
	Addr      string `json:"addr" about:"the connect string of its clients"`
	Running   bool   `json:"running" about:"whether a server serves now"`
	Zxid      int64  `json:"zxid"`
	Last      int64  `json:"last" about:"the number of the last record"`

	Servers []memberEntry `json:"servers"`
}

// memberEntry is one of several servers.
type memberEntry struct {
	Server  int    `json:"server" about:"its number, from 1"`
	Addr    string `json:"addr"`
	Running bool   `json:"running"`
	Leader  bool   `json:"leader" about:"true also for a single server"`
}

func getServer(r *request) (serverEntry, error) {
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

type nodeEntry struct {
	Path     string   `json:"path"`
	Data     *string  `json:"data" about:"null for null data, and for data that is not text"`
	Base64   string   `json:"base64,omitempty" about:"data that is not text"`
	Kind     string   `json:"kind" enum:"persistent,ephemeral,container,ttl"`
	TTL      string   `json:"ttl,omitempty"`
	ACL      []string `json:"acl" about:"scheme:id:perms"`
	Owner    string   `json:"owner,omitempty" about:"the id of the session that owns an ephemeral node"`
	Czxid    int64    `json:"czxid"`
	Mzxid    int64    `json:"mzxid"`
	Version  int32    `json:"version"`
	Children int      `json:"children"`
}

func getTree(r *request) (iter.Seq[nodeEntry], error) {
	return listOf(r.Tree(), nodeEntryOf), nil
}

func nodeEntryOf(n view.Node) nodeEntry {
	e := nodeEntry{
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
	Session    string   `json:"session" about:"its id"`
	Name       string   `json:"name"`
	Timeout    string   `json:"timeout"`
	Connected  bool     `json:"connected"`
	Server     int      `json:"server" about:"the number of its server, 0 if it is not connected"`
	Ephemerals []string `json:"ephemerals"`
}

func getSessions(r *request) (iter.Seq[sessionEntry], error) {
	return listOf(r.Sessions(), func(s view.Session) sessionEntry {
		return sessionEntry{
			Session: sessionText(s.ID), Name: s.Name, Timeout: s.Timeout.String(),
			Connected: s.Connected, Server: s.Server,
			Ephemerals: append([]string{}, s.Ephemerals...),
		}
	}), nil
}

// sessionText is a session's id as ZooKeeper prints it.
func sessionText(id int64) string { return fmt.Sprintf("0x%x", uint64(id)) }

type watchEntry struct {
	Path     string `json:"path"`
	Children bool   `json:"children" about:"of the list of children, not of the node itself"`
	Mode     string `json:"mode" enum:"standard,persistent,persistent-recursive"`
	Session  string `json:"session" about:"the id of the watcher"`
}

func getWatches(r *request) (iter.Seq[watchEntry], error) {
	return listOf(r.Watches(), func(w view.Watch) watchEntry {
		return watchEntry{
			Path: w.Path, Children: w.Children, Mode: w.Mode.String(),
			Session: sessionText(w.Session),
		}
	}), nil
}

func getDump(r *request) (rawReply, error) {
	format, err := requestedFormat(r.Request)
	if err != nil {
		return rawReply{}, err
	}
	if format == "" && strings.Contains(r.Header.Get("Accept"), "json") {
		format = tree.JSON
	}
	contentType := "application/json"
	if format != tree.JSON {
		format, contentType = tree.YAML, "application/yaml"
	}
	t := tree.Of(r.Server)
	return rawReply{contentType, func(w io.Writer) error { return t.Write(w, format) }}, nil
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
