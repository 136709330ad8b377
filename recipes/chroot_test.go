package recipes_test

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/recipes"
)

// chrootCases are requests below a chroot, in their order, and the answers. An event is that of an
// earlier watch.
var chrootCases = []struct{ request, want string }{
	{"exists /", "yes"},
	{"children /", ""},
	{"create /", "NodeExistsError"},
	{"create /a", "/a"},
	{"event children /", "CHILD /"},
	{"create /a", "NodeExistsError"},
	{"create /x/y", "NoNodeError"},
	{"container /box", "/box"},
	{"sequential /a/n-", "/a/n-0000000000"},
	{"sequential /a/", "/a/0000000001"},
	{"sequential /", "/0000000002"},
	{"children /", "0000000002 a box"},
	{"children /a", "0000000001 n-0000000000"},
	{"set /a", "ok"},
	{"get /a", "ok"},
	{"set /a", "ok"},
	{"event node /a", "CHANGED /a"},
	{"get /", "ok"},
	{"set /", "ok"},
	{"event node /", "CHANGED /"},
	{"exists /new", "no"},
	{"create /new", "/new"},
	{"event node /new", "CREATED /new"},
	{"event children /", "CHILD /"},
	{"get /new", "ok"},
	{"delete /new", "ok"},
	{"event node /new", "DELETED /new"},
	{"get /new", "NoNodeError"},
	{"delete /a", "NotEmptyError"},
	{"delete /", "NotEmptyError"},
	{"sync /", "/"},
	{"sync /a", "/a"},
	{"multi create:/m sequential:/m/n- set:/m check:/a delete:/box",
		"/m /m/n-0000000000 ok ok ok"},
	{"multi check:/ create:/m", "RolledBackError NodeExistsError"},
	{"exists /app", "no"},
	{"exists /zookeeper", "no"},
}

// chrootBase is the chroot of the cases. Beside it there is a node whose name begins with its own.
const chrootBase = "/top/app"

func chrootServer(t *testing.T) *fakezk.Server {
	t.Helper()
	s := fakezk.Start(t)
	check.OK(t, s.Put(chrootBase, nil))
	check.OK(t, s.Put(chrootBase+"le/x", nil))
	return s
}

// TestChrootAnswers: the requests of a Chroot have the answers that the table tells.
func TestChrootAnswers(t *testing.T) {
	for name, wrap := range map[string]func(recipes.Conn) recipes.Conn{
		"one":    func(c recipes.Conn) recipes.Conn { return recipes.Chroot(c, chrootBase) },
		"slash":  func(c recipes.Conn) recipes.Conn { return recipes.Chroot(c, chrootBase+"/") },
		"nested": func(c recipes.Conn) recipes.Conn { return chroots(c, "/top", "/", "/app", "") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := chrootServer(t)
				user := &chrootUser{conn: wrap(s.Connect(t)), events: map[string]<-chan zk.Event{}}
				for _, tt := range chrootCases {
					check.Equal(t, user.send(tt.request), tt.want, "%s", tt.request)
				}
				wantTranslated(t, s)
			})
		})
	}
}

// TestChrootIsThatOfKazoo: kazoo gives the same answers, and leaves the same nodes.
func TestChrootIsThatOfKazoo(t *testing.T) {
	t.Parallel()
	python := pythonWith("kazoo.client")
	if python == "" {
		t.Skip("the test needs a Python with kazoo")
	}
	s := chrootServer(t)
	var requests, want []string
	for _, tt := range chrootCases {
		requests, want = append(requests, tt.request), append(want, tt.want)
	}
	kazoo := exec.Command(python, "testdata/chroot.py", s.Listen(t)+chrootBase)
	kazoo.Stdin, kazoo.Stderr = strings.NewReader(strings.Join(requests, "\n")), os.Stderr
	out, err := kazoo.Output()
	check.OK(t, err)
	check.List(t, strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), want)
	wantTranslated(t, s)
}

// pythonWith finds a Python that has these modules, Debian's first.
func pythonWith(modules ...string) string {
	for _, python := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(python, "-c", "import "+strings.Join(modules, ", ")).Run() == nil {
			return python
		}
	}
	return ""
}

// TestChrootKeepsTransactionsInside: a sequential node of the root is a child of the path, also in
// a transaction, in which kazoo 2.8 makes it beside the path. A path without a slash is refused.
func TestChrootKeepsTransactionsInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := chrootServer(t)
		user := &chrootUser{conn: recipes.Chroot(s.Connect(t), chrootBase)}
		check.Equal(t, user.send("multi sequential:/"), "/0000000000")
		for _, request := range []string{"multi create:le", "create le", "sequential le"} {
			answer := user.send(request)
			check.Equal(t, strings.Contains(answer, "invalid"), true, "%s: %s", request, answer)
		}
		for _, path := range []string{chrootBase + "0000000000", chrootBase + "le0000000000"} {
			_, exists := s.Get(path)
			check.Equal(t, exists, false, "%s", path)
		}
	})
}

// TestRecipesMakeThePathOfAChroot: with the nodes above it, and with a request for them only if one
// is missing, as a client may have no rights there.
func TestRecipesMakeThePathOfAChroot(t *testing.T) {
	for _, path := range []string{"/", "/locks", "/locks/report"} {
		synctest.Test(t, func(t *testing.T) {
			s := fakezk.Start(t)
			conn := chroots(s.Connect(t), "/top", "/app")
			lock := recipes.NewLock(conn, path)
			check.OK(t, lock.Lock(t.Context()))
			own, _, err := conn.Children(path)
			check.OK(t, err)
			check.Equal(t, "/"+own[0], strings.TrimPrefix(lock.Path(),
				strings.TrimSuffix(path, "/")))
			check.OK(t, lock.Close(t.Context()))
			check.OK(t, recipes.EnsurePath(t.Context(), conn, path))
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := fakezk.Start(t)
		check.OK(t, s.Put("/app", nil))
		admin := s.Connect(t)
		_, err := admin.SetACL("/", zk.WorldACL(zk.PermRead), -1)
		check.OK(t, err)
		conn := s.Connect(t)
		check.OK(t, recipes.EnsurePath(t.Context(), recipes.Chroot(conn, "/app"), "/locks/report"))
		err = recipes.EnsurePath(t.Context(), recipes.Chroot(conn, "/other"), "/locks")
		check.Is(t, err, zk.ErrNoAuth)
		check.Contains(t, err.Error(), "create parent /other")
	})
}

// wantTranslated checks what the requests leave.
func wantTranslated(t *testing.T, s *fakezk.Server) {
	t.Helper()
	var paths []string
	for _, n := range s.Tree() {
		if strings.HasPrefix(n.Path, "/top/") {
			paths = append(paths, strings.TrimPrefix(n.Path, "/top"))
		}
	}
	slices.Sort(paths)
	check.List(t, paths, []string{"/app", "/app/0000000002", "/app/a",
		"/app/a/0000000001", "/app/a/n-0000000000", "/app/m", "/app/m/n-0000000000", "/apple",
		"/apple/x"})
}

// chroots nests several.
func chroots(conn recipes.Conn, paths ...string) recipes.Conn {
	for _, path := range paths {
		conn = recipes.Chroot(conn, path)
	}
	return conn
}

// chrootUser sends requests that are written as in chrootCases.
type chrootUser struct {
	conn   recipes.Conn
	events map[string]<-chan zk.Event // the latest, by "children" or "node" and the path
}

func (u *chrootUser) send(request string) string {
	words := strings.Fields(request)
	path, open := words[1], zk.WorldACL(zk.PermAll)
	var answer string
	var err error
	switch words[0] {
	case "create":
		answer, err = u.conn.Create(path, nil, 0, open)
	case "sequential":
		answer, err = u.conn.Create(path, nil, zk.FlagSequence, open)
	case "container":
		answer, err = u.conn.CreateContainer(path, nil, zk.FlagContainer, open)
	case "set":
		_, err = u.conn.Set(path, nil, -1)
	case "delete":
		err = u.conn.Delete(path, -1)
	case "sync":
		return errText(u.conn.Sync(path))
	case "multi":
		return u.multi(words[1:])
	case "event":
		return eventText(<-u.events[words[1]+" "+words[2]])
	default:
		return u.read(words[0], path)
	}
	return errText(cmp.Or(answer, "ok"), err)
}

// read sends a read with a watch, and checks it against the one without.
func (u *chrootUser) read(kind, path string) string {
	var answer, plain string
	var events <-chan zk.Event
	var err, errPlain error
	switch kind {
	case "get":
		_, _, events, err = u.conn.GetW(path)
		_, _, errPlain = u.conn.Get(path)
		answer, plain = "ok", "ok"
	case "exists":
		var found, foundPlain bool
		found, _, events, err = u.conn.ExistsW(path)
		foundPlain, _, errPlain = u.conn.Exists(path)
		answer, plain = yesNo(found), yesNo(foundPlain)
	case "children":
		var names, namesPlain []string
		names, _, events, err = u.conn.ChildrenW(path)
		namesPlain, _, errPlain = u.conn.Children(path)
		answer, plain = sortedText(names), sortedText(namesPlain)
	}
	if err == nil && kind == "children" {
		u.events["children "+path] = events
	} else if err == nil {
		u.events["node "+path] = events
	}
	if plain != answer || !errors.Is(errPlain, err) {
		return "without a watch: " + errText(plain, errPlain)
	}
	return errText(answer, err)
}

func (u *chrootUser) multi(words []string) string {
	open := zk.WorldACL(zk.PermAll)
	var ops []any
	for _, word := range words {
		kind, path, _ := strings.Cut(word, ":")
		switch kind {
		case "create":
			ops = append(ops, &zk.CreateRequest{Path: path, Acl: open})
		case "sequential":
			ops = append(ops, &zk.CreateRequest{Path: path, Acl: open, Flags: zk.FlagSequence})
		case "set":
			ops = append(ops, &zk.SetDataRequest{Path: path, Version: -1})
		case "check":
			ops = append(ops, &zk.CheckVersionRequest{Path: path, Version: -1})
		case "delete":
			ops = append(ops, &zk.DeleteRequest{Path: path, Version: -1})
		}
	}
	answers, err := u.conn.Multi(ops...)
	var texts []string
	for _, a := range answers {
		if err != nil && a.Error == nil {
			texts = append(texts, "RolledBackError")
			continue
		}
		texts = append(texts, errText(cmp.Or(a.String, "ok"), a.Error))
	}
	return strings.Join(texts, " ")
}

func yesNo(found bool) string {
	if found {
		return "yes"
	}
	return "no"
}

func sortedText(names []string) string {
	slices.Sort(names)
	return strings.Join(names, " ")
}

// errText is the answer, or the name that kazoo has for the error.
func errText(answer string, err error) string {
	for known, name := range map[error]string{
		zk.ErrNoNode: "NoNodeError", zk.ErrNodeExists: "NodeExistsError",
		zk.ErrNotEmpty: "NotEmptyError",
	} {
		if errors.Is(err, known) {
			return name
		}
	}
	if err != nil {
		return err.Error()
	}
	return answer
}

// eventText is an event as kazoo names it.
func eventText(ev zk.Event) string {
	kind := map[zk.EventType]string{
		zk.EventNodeCreated: "CREATED", zk.EventNodeDeleted: "DELETED",
		zk.EventNodeDataChanged: "CHANGED", zk.EventNodeChildrenChanged: "CHILD",
	}[ev.Type]
	return kind + " " + ev.Path
}
