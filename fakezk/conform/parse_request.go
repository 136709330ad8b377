package conform

import (
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// verbs has the parser of each operation by its name.
var verbs = map[string]func(a *arguments) proto.Request{
	"create":          creates(proto.OpCreate),
	"create2":         creates(proto.OpCreate2),
	"createContainer": creates(proto.OpCreateContainer),
	"createTTL":       creates(proto.OpCreateTTL),
	"delete": func(a *arguments) proto.Request {
		return &proto.Delete{Path: a.path(), Version: a.int32("v", -1)}
	},
	"exists": func(a *arguments) proto.Request {
		return &proto.Exists{Path: a.path(), Watch: a.word("watch")}
	},
	"getData": func(a *arguments) proto.Request {
		return &proto.GetData{Path: a.path(), Watch: a.word("watch")}
	},
	"getChildren":  getsChildren(proto.OpGetChildren),
	"getChildren2": getsChildren(proto.OpGetChildren2),
	"setData": func(a *arguments) proto.Request {
		return &proto.SetData{Path: a.path(), Data: a.data(), Version: a.int32("v", -1)}
	},
	"getACL": func(a *arguments) proto.Request { return &proto.GetACL{Path: a.path()} },
	"setACL": func(a *arguments) proto.Request {
		return &proto.SetACL{Path: a.path(), ACL: a.acl(), Version: a.int32("v", -1)}
	},
	"sync": func(a *arguments) proto.Request { return &proto.Sync{Path: a.path()} },
	"check": func(a *arguments) proto.Request {
		return &proto.Check{Path: a.path(), Version: a.int32("v", -1)}
	},
	"auth": parseAuth,
	"sasl": func(a *arguments) proto.Request {
		return &proto.Sasl{Token: []byte(a.text("token", ""))}
	},
	"setWatches":  setsWatches(proto.OpSetWatches),
	"setWatches2": setsWatches(proto.OpSetWatches2),
	"addWatch": func(a *arguments) proto.Request {
		return &proto.AddWatch{Path: a.path(), Mode: a.int32("mode", 0)}
	},
	"checkWatches":  namesWatches(proto.OpCheckWatches),
	"removeWatches": namesWatches(proto.OpRemoveWatches),
	"getEphemerals": func(a *arguments) proto.Request {
		return &proto.GetEphemerals{Prefix: a.path()}
	},
	"getAllChildrenNumber": func(a *arguments) proto.Request {
		return &proto.GetAllChildrenNumber{Path: a.path()}
	},
	"deleteContainer": func(a *arguments) proto.Request {
		return &proto.DeleteContainer{Path: a.path()}
	},
	"createSession": func(a *arguments) proto.Request {
		return &proto.CreateSession{TimeoutMs: a.int32("timeout", defaultTimeoutMs)}
	},
	"reconfig":     func(a *arguments) proto.Request { return &proto.Reconfig{CurConfigID: -1} },
	"ping":         simple(proto.OpPing),
	"whoAmI":       simple(proto.OpWhoAmI),
	"closeSession": simple(proto.OpCloseSession),
}

func simple(code proto.OpCode) func(*arguments) proto.Request {
	return func(*arguments) proto.Request { return &proto.Simple{Code: code} }
}

func getsChildren(code proto.OpCode) func(*arguments) proto.Request {
	return func(a *arguments) proto.Request {
		return &proto.GetChildren{Code: code, Path: a.path(), Watch: a.word("watch")}
	}
}

func namesWatches(code proto.OpCode) func(*arguments) proto.Request {
	return func(a *arguments) proto.Request {
		return &proto.Watches{Code: code, Path: a.path(), Type: a.int32("type", 3)}
	}
}

// parseRequest parses one request: a verb of the table, multi or multiRead with requests in braces,
// "op CODE HEX" (any body) or "frame HEX" (any payload). All but frame may have xid=N.
func parseRequest(a *arguments) (request, error) {
	var r request
	switch a.verb {
	case "multi", "multiRead":
		return parseMulti(a)
	case "frame":
		r.payload = a.hex()
		return r, a.done()
	case "op":
		r.op = proto.OpCode(a.number("operation code"))
		if len(a.given) > 0 && a.given[0].key == "" {
			r.body = a.hex()
		}
	default:
		parse := verbs[a.verb]
		if parse == nil {
			return r, fmt.Errorf("unknown verb %s", a.verb)
		}
		if t, ok := a.relative(); ok {
			r.sinceStart = true
			a.given = append(a.given, t)
		}
		r.req = parse(a)
		r.op = r.req.Op()
	}
	a.xid(&r)
	return r, a.done()
}

// xid takes the xid of a request, if it has one.
func (a *arguments) xid(r *request) {
	if _, ok := a.peek("xid"); !ok {
		return
	}
	r.hasXid, r.xid = true, a.int32("xid", 0)
	if r.xid == markerXid {
		a.fail("xid=%d is the xid of the answer to a ping", r.xid)
	}
}

func (a *arguments) peek(key string) (token, bool) {
	for _, t := range a.given {
		if t.key == key {
			return t, true
		}
	}
	return token{}, false
}

// relative takes since=+N and returns it without its sign.
func (a *arguments) relative() (token, bool) {
	t, ok := a.peek("since")
	if !ok || !strings.HasPrefix(t.value, "+") {
		return token{}, false
	}
	a.take("since")
	t.value = t.value[1:]
	return t, true
}

func (a *arguments) number(name string) int32 {
	t := a.next(name)
	n, err := strconv.ParseInt(t.value, 0, 32)
	if err != nil {
		a.fail("%s: want a number for the %s", t.value, name)
	}
	return int32(n)
}

// parseMulti parses a multi. Its operations may be any of verbs.
func parseMulti(a *arguments) (request, error) {
	var r request
	a.xid(&r)
	if a.err != nil {
		return r, a.err
	}
	inner, err := parseGroup(a)
	if err != nil {
		return r, err
	}
	ops := make([]proto.Request, len(inner))
	for i, op := range inner {
		if op.req == nil {
			return r, fmt.Errorf("%s: only operations with a verb", a.verb)
		}
		ops[i] = op.req
	}
	r.req = &proto.Multi{Ops: ops}
	if a.verb == "multiRead" {
		r.req = &proto.MultiRead{Ops: ops}
	}
	r.op = r.req.Op()
	return r, nil
}

func creates(code proto.OpCode) func(*arguments) proto.Request {
	return func(a *arguments) proto.Request {
		return &proto.Create{
			Code: code, Path: a.path(), Data: a.data(), ACL: a.acl(),
			Flags: a.int32("flags", 0), TTL: a.int64("ttl", 0),
		}
	}
}

func parseAuth(a *arguments) proto.Request {
	return &proto.Auth{Scheme: nullable(a.next("scheme")), Data: bytesOf(a.next("credentials"))}
}

func setsWatches(code proto.OpCode) func(*arguments) proto.Request {
	return func(a *arguments) proto.Request { return parseSetWatches(a, code) }
}

func parseSetWatches(a *arguments, code proto.OpCode) proto.Request {
	w := &proto.SetWatches{Code: code}
	if w.RelativeZxid = math.MaxInt64; !a.word("max") {
		w.RelativeZxid = a.int64("since", 0)
	}
	w.DataWatches = a.paths("data")
	w.ExistWatches = a.paths("exist")
	w.ChildWatches = a.paths("child")
	if code == proto.OpSetWatches2 {
		w.PersistentWatches = a.paths("persistent")
		w.RecursiveWatches = a.paths("recursive")
	}
	return w
}

// path takes a path. $ at its start stands for Root; null is a null path; long=N makes it
// N characters longer.
func (a *arguments) path() string {
	return expand(nullable(a.next("path"))) + strings.Repeat("x", int(a.int32("long", 0)))
}

func expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "$"); ok {
		return Root + rest
	}
	return path
}

func nullable(t token) string {
	if t.value == "null" && !t.quoted {
		return proto.NullPath
	}
	return t.value
}

func bytesOf(t token) []byte {
	if t.value == "null" && !t.quoted {
		return nil
	}
	return []byte(t.value)
}

// paths takes a list with commas. The word none is an empty list, and null a null list. In a list
// of several paths, null is a null path.
func (a *arguments) paths(key string) []string {
	t, ok := a.take(key)
	switch {
	case !ok || t.value == "none" && !t.quoted:
		return []string{}
	case t.value == "null" && !t.quoted:
		return nil
	}
	list := strings.Split(t.value, ",")
	for i := range list {
		list[i] = expand(nullable(token{value: list[i]}))
	}
	return list
}

// data takes data=TEXT, data=null or size=N.
func (a *arguments) data() []byte {
	if t, ok := a.take("data"); ok {
		return bytesOf(t)
	}
	return []byte(strings.Repeat("x", int(a.int32("size", 0))))
}

// acl takes acl=PERMS/SCHEME/ID,... Without it all clients have all permissions. An id
// "@user:password" stands for its digest.
func (a *arguments) acl() []proto.ACL {
	t, ok := a.take("acl")
	switch {
	case !ok:
		return []proto.ACL{{Perms: proto.PermAll, Scheme: "world", ID: "anyone"}}
	case t.value == "null" && !t.quoted:
		return nil
	case t.value == "none" && !t.quoted:
		return []proto.ACL{}
	}
	var list []proto.ACL
	for _, entry := range strings.Split(t.value, ",") {
		part := strings.SplitN(entry, "/", 3)
		perms, err := strconv.ParseInt(part[0], 10, 32)
		if len(part) != 3 || err != nil {
			a.fail("acl=%s: want PERMS/SCHEME/ID", entry)
			return nil
		}
		list = append(list, proto.ACL{
			Perms: int32(perms), Scheme: nullable(token{value: part[1]}), ID: aclID(part[2]),
		})
	}
	return list
}

func aclID(id string) string {
	if secret, ok := strings.CutPrefix(id, "@"); ok {
		return Digest(secret)
	}
	return nullable(token{value: id})
}

// Digest returns the id of ZooKeeper's scheme digest for "user:password": "user:" and the
// base64 of the SHA-1 of the whole.
func Digest(secret string) string {
	user, _, _ := strings.Cut(secret, ":")
	sum := sha1.Sum([]byte(secret))
	return user + ":" + base64.StdEncoding.EncodeToString(sum[:])
}
