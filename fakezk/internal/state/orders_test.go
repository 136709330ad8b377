package state

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

// A table is a set of a transcript, of one kind or the other.
type table struct {
	hash       *hashSet
	concurrent concurrentSet[string]
}

func newTable(kind string) *table {
	switch kind {
	case "set":
		return &table{hash: newHashSet(childrenTable)}
	case "paths":
		return &table{hash: newHashSet(pathsTable)}
	}
	return &table{}
}

func (t *table) add(key string) {
	if t.hash != nil {
		t.hash.put(&element{key: key})
	} else {
		t.concurrent.add(key, JavaHash(key))
	}
}

func (t *table) remove(key string) {
	if t.hash != nil {
		t.hash.remove(key)
	} else {
		t.concurrent.remove(key)
	}
}

func (t *table) keys() []string {
	if t.hash != nil {
		return t.hash.keys()
	}
	return slices.Collect(t.concurrent.all())
}

// orderOf returns the keys in the order that a line of a transcript asks for.
func (t *table) orderOf(what string) []string {
	switch what {
	case "clone":
		return t.hash.clonedKeys()
	case "copy":
		return snapshot(&t.concurrent)
	}
	return t.keys()
}

// TestOrdersAreJavas replays transcripts of Java.
func TestOrdersAreJavas(t *testing.T) {
	file, err := os.Open("testdata/orders.txt")
	check.OK(t, err)
	defer file.Close()
	var now *table
	shown := 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for number := 1; lines.Scan(); number++ {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		switch verb {
		case "new":
			now = newTable(rest)
		case "+":
			now.add(rest)
		case "-":
			now.remove(rest)
		default:
			shown++
			want := strings.Fields(rest)
			if got := now.orderOf(verb); !slices.Equal(got, want) {
				t.Fatalf("line %d: %s\n got %q\nwant %q", number, verb, got, want)
			}
		}
	}
	if err := lines.Err(); err != nil || shown < 250 {
		t.Fatalf("%d orders compared: %v", shown, err)
	}
}

func TestJavaHash(t *testing.T) {
	// As printed by String.hashCode.
	tests := map[string]uint32{
		"": 0, "Aa": 2112, "BB": 2112, "zookeeper": 1600681804, "漢字é": 28065556,
		"\U0001F600": 1772899, "n-0000000001": 3475609792,
	}
	for s, want := range tests {
		check.Equal(t, JavaHash(s), want, "%q", s)
	}
}

// TestIdentitiesAreInTheServersOrder compares with the whoAmI of a real server after an
// address and a number of users were added.
func TestIdentitiesAreInTheServersOrder(t *testing.T) {
	tests := map[int]string{
		6:  "user4 user0 user5 user2 user3 127.0.0.1 user1",
		11: "user4 user5 user3 user7 user8 user9 127.0.0.1 user6 user1 user0 user2 user10",
		12: "user4 user5 user3 user7 user8 user9 127.0.0.1 user6 user1 user11 user0 user2 user10",
		24: "user5 user3 user21 user22 user8 127.0.0.1 user6 user17 user16 user19 user13 user23 " +
			"user4 user15 user7 user9 user12 user1 user20 user11 user18 user0 user2 user14 user10",
		30: "user5 user25 user3 user21 user22 user8 127.0.0.1 user6 user17 user28 user27 user16 " +
			"user19 user29 user13 user23 user4 user15 user7 user9 user12 user1 user20 user11 " +
			"user18 user0 user2 user14 user26 user10 user24",
	}
	var ids Identities
	ids.Add(local)
	for i := range 30 {
		list := ids.List()
		before := slices.Clone(list)
		ids.Add(DigestID(fmt.Appendf(nil, "user%d:pw%d", i, i)))
		if !slices.Equal(list, before) {
			t.Fatal("the old list changed")
		}
		want, ok := tests[i+1]
		if got := users(ids.List()); ok && got != want {
			t.Errorf("after %d:\n got %s\nwant %s", i+1, got, want)
		}
	}
	list := ids.List()
	if ids.Add(list[7]); !slices.Equal(ids.List(), list) {
		t.Errorf("adding one twice: %s", users(ids.List()))
	}
}

// sameHash returns the nth of many strings of 2*letters letters with one Java hash.
func sameHash(n, letters int) string {
	var b strings.Builder
	for range letters {
		b.WriteString([]string{"Aa", "BB"}[n&1])
		n >>= 1
	}
	return b.String()
}

// TestACrowdedBucketIsASet compares a set, all of whose keys fall in one bucket, with a list.
func TestACrowdedBucketIsASet(t *testing.T) {
	for _, kind := range []string{"set", "concurrent"} {
		t.Run(kind, func(t *testing.T) {
			dice := rand.New(rand.NewPCG(1, 2))
			set, list := newTable(kind), []string{}
			for step := range 3000 {
				key := sameHash(dice.IntN(1<<9), 9)
				at := slices.Index(list, key)
				switch {
				case at >= 0 && dice.IntN(2) == 0:
					set.remove(key)
					list = slices.Delete(list, at, at+1)
				case at < 0:
					set.add(key)
					list = append(list, key)
				}
				got, want := set.keys(), list
				if kind == "concurrent" { // has another order
					got, want = slices.Sorted(slices.Values(got)),
						slices.Sorted(slices.Values(want))
				}
				if !slices.Equal(got, want) {
					t.Fatalf("step %d: %q; want %q", step, got, want)
				}
				if step > 500 && set.hash != nil && len(set.hash.indexes) != 1 {
					t.Fatalf("step %d: %d buckets have an index; want 1", step,
						len(set.hash.indexes))
				}
			}
		})
	}
}

// users prints identities without their hashes.
func users(ids []proto.ID) string {
	var names []string
	for _, id := range ids {
		name, _, _ := strings.Cut(id.ID, ":")
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func TestEphemeralsUnderAPrefix(t *testing.T) {
	s := newStore(t)
	must(t, s, guest(), create("/a"), createFlags("/a/x", 1), createFlags("/ab", 1),
		createFlags("/b", 1))
	must(t, s, Caller{Session: s2}, createFlags("/other", 1))
	all := []string{"/ab", "/b", "/a/x"}
	tests := map[string][]string{
		"": all, " ": all, "/": all, "\t / ": all, proto.NullPath: all,
		"/a": {"/ab", "/a/x"}, "/a/": {"/a/x"}, " /a": {}, "/c": {},
	}
	for prefix, want := range tests {
		got := s.EphemeralsUnder(s1, prefix)
		slices.Sort(got)
		slices.Sort(want)
		check.List(t, got, want, "%q", prefix)
	}
	if got := s.EphemeralsUnder(0x99, ""); got != nil {
		t.Errorf("unknown session: %q", got)
	}
}

func TestListIsKeptUntilTheSetChanges(t *testing.T) {
	set := newHashSet(childrenTable)
	put := func(key string) { set.put(&element{key: key}) }
	want := func(keys ...string) {
		t.Helper()
		check.List(t, set.keys(), keys)
	}
	want()
	put("a")
	want("a")
	before := set.keys()
	put("b")
	want("a", "b")
	set.remove("a")
	want("b")
	check.List(t, before, []string{"a"}, "the returned list")
	check.Equal(t, &set.keys()[0], &set.keys()[0], "the list without a change")
}

// TestAFullBucket: the ninth key of one hash makes a table of fewer than 64 buckets grow. A larger
// table stays: Java makes a search tree of the bucket.
func TestAFullBucket(t *testing.T) {
	keys := []string{""}
	for range 4 {
		var longer []string
		for _, key := range keys {
			longer = append(longer, key+"Aa", key+"BB") // two texts with the same hash
		}
		keys = longer
	}
	for _, test := range []struct{ table, want int }{{16, 64}, {32, 64}, {64, 64}, {128, 128}} {
		set := newHashSet(test.table)
		for i := range 10 {
			set.put(&element{key: keys[i]})
		}
		check.Equal(t, len(set.table), test.want, "a table of %d with ten keys of one hash",
			test.table)
	}
}
