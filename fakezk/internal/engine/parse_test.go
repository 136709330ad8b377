package engine

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

// parseRequest parses a request of a transcript: a word and its arguments. null is a
// null path or list, "" an empty one; a missing number is 0, a missing version -1.
func parseRequest(t *testing.T, text string) (proto.OpCode, []byte) {
	t.Helper()
	word, _, _ := strings.Cut(text, " ")
	if word == "raw" { // the number of an operation and the body in hex
		fields := strings.Fields(text)
		body, err := hex.DecodeString(strings.Join(fields[2:], ""))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		return proto.OpCode(number(t, fields[1], 0)), body
	}
	if word == "multi" || word == "multiread" {
		var ops []proto.Request
		for _, part := range strings.Split(text[len(word):], ";") {
			if strings.TrimSpace(part) != "" {
				ops = append(ops, parseRecord(t, strings.TrimSpace(part)))
			}
		}
		var req proto.Request = &proto.Multi{Ops: ops}
		if word == "multiread" {
			req = &proto.MultiRead{Ops: ops}
		}
		return req.Op(), wire.AppendRequest(nil, 0, req)[12:]
	}
	req := parseRecord(t, text)
	return req.Op(), wire.AppendRequest(nil, 0, req)[12:]
}

func parseRecord(t *testing.T, text string) proto.Request {
	t.Helper()
	a := append(strings.Fields(text), "", "", "", "", "", "", "")
	watch := a[2] == "w"
	switch a[0] {
	case "create", "create2", "container", "ttl":
		codes := map[string]proto.OpCode{
			"create": proto.OpCreate, "create2": proto.OpCreate2,
			"container": proto.OpCreateContainer, "ttl": proto.OpCreateTTL,
		}
		return &proto.Create{
			Code: codes[a[0]], Path: path(a[1]), Flags: int32(number(t, a[2], 0)),
			Data: []byte{}, ACL: acls(t, a[3]), TTL: number(t, a[4], 0),
		}
	case "delete":
		return &proto.Delete{Path: path(a[1]), Version: int32(number(t, a[2], -1))}
	case "set":
		return &proto.SetData{
			Path: path(a[1]), Version: int32(number(t, a[2], -1)), Data: []byte(a[3]),
		}
	case "check":
		return &proto.Check{Path: path(a[1]), Version: int32(number(t, a[2], -1))}
	case "get":
		return &proto.GetData{Path: path(a[1]), Watch: watch}
	case "exists":
		return &proto.Exists{Path: path(a[1]), Watch: watch}
	case "ls":
		return &proto.GetChildren{Code: proto.OpGetChildren, Path: path(a[1]), Watch: watch}
	case "ls2":
		return &proto.GetChildren{Code: proto.OpGetChildren2, Path: path(a[1]), Watch: watch}
	case "getacl":
		return &proto.GetACL{Path: path(a[1])}
	case "setacl":
		return &proto.SetACL{Path: path(a[1]), ACL: acls(t, a[2]), Version: -1}
	case "sync":
		return &proto.Sync{Path: path(a[1])}
	case "count":
		return &proto.GetAllChildrenNumber{Path: path(a[1])}
	case "ephemerals":
		return &proto.GetEphemerals{Prefix: path(a[1])}
	}
	return parseOther(t, a)
}

func parseOther(t *testing.T, a []string) proto.Request {
	t.Helper()
	switch a[0] {
	case "addwatch":
		return &proto.AddWatch{Path: path(a[1]), Mode: int32(number(t, a[2], 0))}
	case "checkwatches", "removewatches":
		code := proto.OpCheckWatches
		if a[0] == "removewatches" {
			code = proto.OpRemoveWatches
		}
		return &proto.Watches{Code: code, Path: path(a[1]), Type: int32(number(t, a[2], 3))}
	case "setwatches", "setwatches2": // relative zxid, then the lists
		s := &proto.SetWatches{
			Code: proto.OpSetWatches, RelativeZxid: number(t, a[1], 0),
			DataWatches: list(a[2]), ExistWatches: list(a[3]), ChildWatches: list(a[4]),
		}
		if a[0] == "setwatches2" {
			s.Code, s.PersistentWatches, s.RecursiveWatches = proto.OpSetWatches2,
				list(a[5]), list(a[6])
		}
		return s
	case "auth":
		req := &proto.Auth{Scheme: a[1], Data: []byte(a[2])}
		if a[2] == "null" {
			req.Data = nil
		}
		return req
	case "sasl":
		req := &proto.Sasl{Token: []byte(a[1])}
		if a[1] == "null" {
			req.Token = nil
		}
		return req
	case "createsession":
		return &proto.CreateSession{TimeoutMs: int32(number(t, a[1], 0))}
	case "reconfig":
		return &proto.Reconfig{}
	case "whoami":
		return &proto.Simple{Code: proto.OpWhoAmI}
	case "zxid":
		return &proto.Simple{Code: proto.OpPing}
	case "close":
		return &proto.Simple{Code: proto.OpCloseSession}
	}
	t.Fatalf("no request %q", a)
	return nil
}

func path(s string) string {
	switch s {
	case "null":
		return proto.NullPath
	case `""`:
		return ""
	}
	return s
}

// list parses "a,b", "-" (an empty list) and "null" (a null list). A path "null" is a null path.
func list(s string) []string {
	switch s {
	case "null":
		return nil
	case "-", "":
		return []string{}
	}
	paths := strings.Split(s, ",")
	for i := range paths {
		paths[i] = path(paths[i])
	}
	return paths
}

func number(t *testing.T, s string, missing int64) int64 {
	t.Helper()
	if s == "" {
		return missing
	}
	n, err := strconv.ParseInt(s, 10, 64)
	check.OK(t, err)
	return n
}

// acls parses "world:anyone:1,digest:user:hash:31". "" and "open" give every client all
// permissions.
func acls(t *testing.T, s string) []proto.ACL {
	t.Helper()
	if s == "" || s == "open" {
		return []proto.ACL{{Perms: proto.PermAll, Scheme: "world", ID: "anyone"}}
	}
	var acl []proto.ACL
	for _, entry := range strings.Split(s, ",") {
		scheme, rest, _ := strings.Cut(entry, ":")
		i := strings.LastIndexByte(rest, ':')
		acl = append(acl, proto.ACL{
			Scheme: scheme, ID: rest[:i], Perms: int32(number(t, rest[i+1:], 0)),
		})
	}
	return acl
}

// formatReply returns the part of a reply that a transcript shows: no zxid, no time.
func formatReply(reply proto.Reply) string {
	switch r := reply.(type) {
	case nil:
		return "ok"
	case proto.PathReply:
		return r.Path
	case proto.PathStatReply:
		return r.Path + " with stat"
	case proto.StatReply:
		return fmt.Sprintf("version %d", r.Stat.Version)
	case proto.DataReply:
		return fmt.Sprintf("%q version %d", r.Data, r.Stat.Version)
	case proto.ChildrenReply:
		return fmt.Sprintf("children %q", r.Names)
	case proto.ChildrenStatReply:
		return fmt.Sprintf("children %q cversion %d", r.Names, r.Stat.Cversion)
	case proto.EphemeralsReply:
		return fmt.Sprintf("ephemerals %q", r.Paths)
	case proto.CountReply:
		return fmt.Sprintf("%d nodes", r.Number)
	case proto.ErrReply:
		return fmt.Sprintf("body %s", r.Err)
	case proto.SaslReply:
		return fmt.Sprintf("token %v", r.Token)
	case proto.WhoAmIReply:
		return fmt.Sprintf("%q", r.IDs)
	case proto.ACLReply:
		return fmt.Sprintf("acl %v", r.ACL)
	case proto.MultiReply:
		results := []string{}
		for _, res := range r.Results {
			text := formatReply(res.Reply)
			if res.Op == proto.OpError {
				text = res.Err.String()
			}
			results = append(results, fmt.Sprintf("%s %s", res.Op, text))
		}
		return "[" + strings.Join(results, "; ") + "]"
	}
	return fmt.Sprintf("%T", reply)
}
