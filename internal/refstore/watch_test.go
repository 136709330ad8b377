package refstore

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

// events prints the events of a session, as "created /a, children /".
func events(s *Store, session int64) string {
	short := map[EventType]string{NodeCreated: "created", NodeDeleted: "deleted",
		NodeDataChanged: "changed", NodeChildrenChanged: "children"}
	var out []string
	for _, e := range s.Events(session) {
		out = append(out, fmt.Sprintf("%s %s", short[e.Type], e.Path))
	}
	return strings.Join(out, ", ")
}

func TestWatchesFireOnceInTheServersOrder(t *testing.T) {
	tests := []struct {
		name string
		do   func(s *Store)
		want string
	}{
		{"exists sees the create, children of the parent after it", func(s *Store) {
			s.Children(1, "/w", true)
			s.Exists(1, "/w/new", true)
			s.Create(1, "/w/new", nil, Persistent)
		}, "created /w/new, children /w"},
		{"data and child watch on one znode: told once", func(s *Store) {
			s.Get(1, "/w/n", true)
			s.Children(1, "/w/n", true)
			s.Children(1, "/w", true)
			s.Delete(1, "/w/n", -1)
		}, "deleted /w/n, children /w"},
		{"that child watch is used up too", func(s *Store) {
			s.Get(1, "/w/n", true)
			s.Children(1, "/w/n", true)
			s.Delete(1, "/w/n", -1)
			s.Create(1, "/w/n", nil, Persistent)
			s.Create(1, "/w/n/c", nil, Persistent)
		}, "deleted /w/n"},
		{"child watch alone hears of the delete", func(s *Store) {
			s.Children(1, "/w/n", true)
			s.Delete(1, "/w/n", -1)
		}, "deleted /w/n"},
		{"get and exists share a table", func(s *Store) {
			s.Get(1, "/w/n", true)
			s.Exists(1, "/w/n", true)
			s.Set(1, "/w/n", nil, -1)
			s.Set(1, "/w/n", nil, -1)
		}, "changed /w/n"},
		{"a failed exists leaves a watch, a failed get none", func(s *Store) {
			s.Get(1, "/w/later", true)
			s.Exists(1, "/w/later", true)
			s.Create(1, "/w/later", nil, Ephemeral)
			s.Delete(1, "/w/later", -1)
		}, "created /w/later"},
		{"setACL, refused writes and sets of a child are not heard", func(s *Store) {
			s.Get(1, "/w", true)
			s.Children(1, "/w", true)
			s.SetACL(1, "/w", World(PermAll), -1)
			s.Set(1, "/w", nil, 9)
			s.Set(1, "/w/n", nil, -1)
		}, ""},
		{"unreadable znode: silent, and the watch is gone", func(s *Store) {
			s.Exists(1, "/w/n", true)
			s.SetACL(1, "/w/n", World(PermWrite|PermAdmin), -1)
			s.Set(1, "/w/n", nil, -1)
			s.SetACL(1, "/w/n", World(PermAll), -1)
			s.Set(1, "/w/n", nil, -1)
		}, ""},
		{"watches die with the connection", func(s *Store) {
			s.Get(1, "/w/n", true)
			s.Disconnect(1)
			s.Set(1, "/w/n", nil, -1)
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := opened(t, 1)
			mustCreate(t, s, 1, "/w", Persistent)
			mustCreate(t, s, 1, "/w/n", Persistent)
			tt.do(s)
			check.Equal(t, events(s, 1), tt.want)
		})
	}
}

func TestSetWatchesReplaysWhatWasMissed(t *testing.T) {
	s := opened(t, 1, 2)
	for _, path := range []string{"/same", "/set", "/gone", "/again", "/kids"} {
		mustCreate(t, s, 2, path, Persistent)
	}
	relative := s.Zxid()
	s.Set(2, "/set", nil, -1)
	s.Delete(2, "/gone", -1)
	s.Delete(2, "/again", -1)
	mustCreate(t, s, 2, "/again", Persistent)
	mustCreate(t, s, 2, "/kids/k", Persistent)
	s.SetWatches(1, relative, []string{"/same", "/set", "/gone", "/again"},
		[]string{"/again", "/never"}, []string{"/kids", "/same"})
	want := "changed /set, deleted /gone, changed /again, created /again, children /kids"
	check.Equal(t, events(s, 1), want)
	s.Set(2, "/same", nil, -1)
	mustCreate(t, s, 2, "/never", Persistent)
	check.Equal(t, events(s, 1), "changed /same, created /never", "events")
}

func TestACLHidesDigestsFromNonAdmins(t *testing.T) {
	s := opened(t, 1)
	list := append(World(PermRead), ACL{PermAll, "digest", "joe:secret"},
		ACL{PermRead, "world", "anyone"})
	s.CreateACL(1, "/d", nil, Persistent, list)
	got, stat, code := s.GetACL(1, "/d")
	if code != OK || len(got) != 2 || got[1].ID != "joe:x" || stat.Aversion != 0 {
		t.Errorf("got %v %+v %v", got, stat, code)
	}
	if _, code := s.SetACL(1, "/d", World(PermAll), -1); code != NoAuth {
		t.Errorf("setACL without ADMIN: %v", code)
	}
	mustCreate(t, s, 1, "/open", Persistent)
	if stat, code := s.SetACL(1, "/open", World(PermRead|PermAdmin),
		0); code != OK || stat.Aversion != 1 {
		t.Errorf("setACL: %+v %v", stat, code)
	}
	if _, code := s.SetACL(1, "/open", World(PermAll), 0); code != BadVersion {
		t.Errorf("setACL with the old version: %v", code)
	}
}
