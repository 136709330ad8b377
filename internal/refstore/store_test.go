package refstore

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

func opened(t *testing.T, sessions ...int64) *Store {
	t.Helper()
	s := NewStore()
	for _, id := range sessions {
		s.OpenSession(id)
	}
	return s
}

func mustCreate(t *testing.T, s *Store, session int64, path string, mode Mode) string {
	t.Helper()
	made, _, code := s.Create(session, path, nil, mode)
	if code != OK {
		t.Fatalf("create %s: %v", path, code)
	}
	return made
}

func TestFreshServerHasFourZnodesWithTheirOddCounters(t *testing.T) {
	s := opened(t, 1)
	want := map[string]Stat{
		"/":                 {Cversion: -1, NumChildren: 1},
		"/zookeeper":        {Cversion: -2, NumChildren: 2},
		"/zookeeper/quota":  {},
		"/zookeeper/config": {Aversion: -1},
	}
	for path, stat := range want {
		got, code := s.Exists(1, path, false)
		if code != OK || got != stat {
			t.Errorf("%s: got %+v %v, want %+v", path, got, code, stat)
		}
	}
	if s.Zxid() != 1 {
		t.Errorf("first session is zxid %d, want 1", s.Zxid())
	}
}

func TestCreateAnswersTheFirstErrorThatApplies(t *testing.T) {
	tests := []struct {
		path string
		mode Mode
		acl  []ACL
		want Code
	}{
		{"/new", Persistent, World(PermAll), OK},
		{"/new", 9, World(PermAll), BadArguments},
		{"new", Persistent, World(PermAll), BadArguments},
		{"", Persistent, World(PermAll), BadArguments},
		{"/a\x00", Persistent, nil, BadArguments},
		{"/no/x", Persistent, nil, InvalidACL},
		{"/new", Persistent, []ACL{{31, "bogus", "x"}}, InvalidACL},
		{"/new", Persistent, []ACL{{31, "digest", "nocolon"}}, InvalidACL},
		{"/no/..", Persistent, World(PermAll), NoNode},
		{"/ro/..", Persistent, World(PermAll), NoAuth},
		{"/e/..", Persistent, World(PermAll), BadArguments},
		{"/e/x", Persistent, World(PermAll), NoChildrenForEphemerals},
		{"/e/x", EphemeralSequential, World(PermAll), NoChildrenForEphemerals},
		{"/a", Persistent, World(PermAll), NodeExists},
		{"/", Persistent, World(PermAll), NodeExists},
		{"//", Persistent, World(PermAll), BadArguments},
		{"/a/", Persistent, World(PermAll), BadArguments},
		{"/a/", PersistentSequential, World(PermAll), OK},
		{"/a/..", PersistentSequential, World(PermAll), OK},
		{"/\U0001f600", Persistent, World(PermAll), BadArguments},
		{"/\xff", Persistent, World(PermAll), BadArguments},
		{"/a..b c", Persistent, World(PermAll), OK},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%q/%d", tt.path, tt.mode), func(t *testing.T) {
			s := opened(t, 1)
			mustCreate(t, s, 1, "/a", Persistent)
			mustCreate(t, s, 1, "/e", Ephemeral)
			if _, _, code := s.CreateACL(1, "/ro", nil, Persistent, World(PermRead)); code != OK {
				t.Fatal(code)
			}
			before := s.Zxid()
			if _, _, code := s.CreateACL(1, tt.path, nil, tt.mode, tt.acl); code != tt.want {
				t.Errorf("got %v, want %v", code, tt.want)
			}
			check.Equal(t, s.Zxid(), before+1, "zxid")
		})
	}
}

func TestSequenceNumbersCountCreatesOfAllNames(t *testing.T) {
	s := opened(t, 1)
	mustCreate(t, s, 1, "/q", Persistent)
	mustCreate(t, s, 1, "/q/plain", Persistent)
	first := mustCreate(t, s, 1, "/q/a-", PersistentSequential)
	s.Delete(1, first, -1)
	second := mustCreate(t, s, 1, "/q/b-", EphemeralSequential)
	if first != "/q/a-0000000001" || second != "/q/b-0000000002" {
		t.Errorf("got %s and %s", first, second)
	}
	stat, _ := s.Exists(1, "/q", false)
	want := Stat{Czxid: 2, Mzxid: 2, Pzxid: 6, Cversion: 4, NumChildren: 2}
	check.Equal(t, stat, want, "stat of parent")
}

func TestDeleteAnswersTheFirstErrorThatApplies(t *testing.T) {
	s := opened(t, 1)
	mustCreate(t, s, 1, "/p", Persistent)
	mustCreate(t, s, 1, "/p/c", Persistent)
	s.CreateACL(1, "/locked", nil, Persistent, World(PermCreate))
	mustCreate(t, s, 1, "/locked/c", Persistent)
	tests := []struct {
		path    string
		version int32
		want    Code
	}{
		{"/", -1, BadArguments}, {"/zookeeper/config", -1, BadArguments}, {"rel", -1, BadArguments},
		{"//", -1, NoNode}, {"/no/x", -1, NoNode}, {"/no", -1, NoNode},
		{"/locked/none", -1, NoAuth}, {"/p", 7, BadVersion}, {"/p", 0, NotEmpty}, {"/p/c", 0,
			OK}, {"/p", -1, OK},
	}
	for _, tt := range tests {
		check.Equal(t, s.Delete(1, tt.path, tt.version), tt.want, "delete %q %d", tt.path,
			tt.version)
	}
}

func TestSetValidatesThenLooksThenChecksTheVersion(t *testing.T) {
	s := opened(t, 1)
	mustCreate(t, s, 1, "/n", Persistent)
	tests := []struct {
		path    string
		version int32
		want    Code
	}{
		{"n", -1, BadArguments}, {"/n/", -1, BadArguments}, {"/no", -1,
			NoNode}, {"/zookeeper/config", -1, NoAuth},
		{"/n", 1, BadVersion}, {"/n", 0, OK}, {"/n", -1, OK},
	}
	for _, tt := range tests {
		if _, code := s.Set(1, tt.path, []byte("xy"), tt.version); code != tt.want {
			t.Errorf("set %q %d: got %v, want %v", tt.path, tt.version, code, tt.want)
		}
	}
	data, stat, _ := s.Get(1, "/n", false)
	want := Stat{Czxid: 2, Mzxid: 9, Pzxid: 2, Version: 2, DataLength: 2}
	if string(data) != "xy" || stat != want {
		t.Errorf("got %q %+v, want %+v", data, stat, want)
	}
}

func TestNullDataIsNotEmptyData(t *testing.T) {
	s := opened(t, 1)
	s.Create(1, "/null", nil, Persistent)
	s.Create(1, "/empty", []byte{}, Persistent)
	null, _, _ := s.Get(1, "/null", false)
	empty, _, _ := s.Get(1, "/empty", false)
	if null != nil || empty == nil {
		t.Errorf("got %v and %v", null, empty)
	}
}

func TestEphemeralsGoWithTheirSessionAtOneZxid(t *testing.T) {
	s := opened(t, 1, 2)
	mustCreate(t, s, 1, "/d", Persistent)
	mustCreate(t, s, 1, "/d/x", Ephemeral)
	mustCreate(t, s, 1, "/d/y", Ephemeral)
	s.Children(2, "/d", true)
	s.Exists(2, "/d/x", true)
	if code := s.CloseSession(1); code != OK {
		t.Fatal(code)
	}
	names, stat, _ := s.Children(2, "/d", false)
	if len(names) != 0 || stat.Pzxid != s.Zxid() || stat.Cversion != 4 {
		t.Errorf("left %v %+v", names, stat)
	}
	want := []Event{{NodeDeleted, "/d/x", 6}, {NodeChildrenChanged, "/d", 6}}
	if got := s.Events(2); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, _, code := s.Create(1, "/late", nil, Persistent); code != SessionExpired {
		t.Errorf("create in a closed session: %v", code)
	}
}

func TestMultiAppliesAllOrNothingAtOneZxid(t *testing.T) {
	s := opened(t, 1)
	mustCreate(t, s, 1, "/m", Persistent)
	s.Exists(1, "/m/a", true)
	results, code := s.Multi(1, []Op{
		{Kind: OpCreate, Path: "/m/a", ACL: World(PermAll)},
		{Kind: OpCheck, Path: "/m", Version: 5},
		{Kind: OpDelete, Path: "/m", Version: -1},
	})
	want := []Result{{}, {Code: BadVersion}, {Code: RuntimeInconsistency}}
	if code != BadVersion || !reflect.DeepEqual(results, want) {
		t.Errorf("got %v %v", results, code)
	}
	if s.Zxid() != 3 || len(s.Events(1)) != 0 {
		t.Errorf("zxid %d, or an event of what never happened", s.Zxid())
	}
	results, code = s.Multi(1, []Op{
		{Kind: OpCreate, Path: "/m/s-", Mode: PersistentSequential, ACL: World(PermAll)},
		{Kind: OpCreate, Path: "/m/a", ACL: World(PermAll)},
		{Kind: OpDelete, Path: "/m/a", Version: 0},
		{Kind: OpCreate, Path: "/m/s-", Mode: PersistentSequential, ACL: World(PermAll)},
	})
	if code != OK || results[0].Path != "/m/s-0000000000" || results[3].Path != "/m/s-0000000002" {
		t.Errorf("got %v %v", results, code)
	}
	if got := s.Events(1); !reflect.DeepEqual(got, []Event{{NodeCreated, "/m/a", 4}}) {
		t.Errorf("one-shot watch gave %v", got)
	}
}
