package state

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

func TestSetACLChecksInTheServersOrder(t *testing.T) {
	tests := []struct {
		name    string
		path    string
		acl     []proto.ACL
		version int32
		want    proto.ErrCode
	}{
		{"path before list", "rel", nil, -1, proto.BadArguments},
		{"list before node", "/no", nil, -1, proto.InvalidACL},
		{"node", "/no", worldAll, -1, proto.NoNode},
		{"permission before version", "/locked", worldAll, 9, proto.NoAuth},
		{"version of the ACL, not of the data", "/a", worldAll, 1, proto.BadVersion},
		{"right version", "/a", worldAll, 0, proto.OK},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStore(t)
			must(t, s, guest(), create("/a"), set("/a", "x", 0),
				createACL("/locked", world(proto.PermWrite)))
			r := do(t, s, guest(), &proto.SetACL{
				Path: test.path, ACL: test.acl, Version: test.version,
			})
			if r.Err != test.want || r.Events != nil {
				t.Errorf("got %s and %q, want %s", r.Err, events(r), test.want)
			}
		})
	}
}

func TestSetACLChangesOnlyTheACLVersion(t *testing.T) {
	s := newStore(t)
	must(t, s, guest(), create("/a"))
	want := stat(t, s, "/a")
	want.Aversion = 1
	r := do(t, s, guest(), &proto.SetACL{Path: "/a", ACL: world(proto.PermRead), Version: 0})
	check.Diff(t, r.Reply, proto.Reply(proto.StatReply{Stat: want}))
}

func TestStoredACLs(t *testing.T) {
	digest := func(id string) []proto.ACL {
		return []proto.ACL{{Perms: 1, Scheme: "digest", ID: id}}
	}
	ip := func(id string) []proto.ACL { return []proto.ACL{{Perms: 1, Scheme: "ip", ID: id}} }
	of := func(scheme, id string) []proto.ACL {
		return []proto.ACL{{Perms: 1, Scheme: scheme, ID: id}}
	}
	bob := proto.ID{Scheme: "digest", ID: "bob:hashB"}
	both := Caller{IDs: []proto.ID{local, alice, bob}}
	tests := []struct {
		name string
		by   Caller
		list []proto.ACL
		want []proto.ACL // nil: InvalidACL
	}{
		{"null", both, nil, nil},
		{"empty", both, []proto.ACL{}, nil},
		{
			"duplicates dropped, order kept", both,
			slices.Concat(world(2), world(1), world(2)), slices.Concat(world(2), world(1)),
		},
		{"perms are not checked", both, world(-1), world(-1)},
		{"no perms", both, world(0), world(0)},
		{"world of somebody", both, of("world", "me"), nil},
		{
			"auth is all that was proved", both, of("auth", "ignored"),
			append(digest("alice:hashA"), digest("bob:hashB")...),
		},
		{"auth without proof", guest(), of("auth", ""), nil},
		{"digest", both, digest("a:b"), digest("a:b")},
		{"digest without a colon", both, digest("a"), nil},
		{"digest with two", both, digest("a:b:c"), nil},
		{"digest without hash", both, digest("a:"), nil},
		{"digest without user", both, digest(":b"), digest(":b")},
		{"digest, empty end", both, digest("a:b:"), digest("a:b:")},
		{"ip", both, ip("10.0.0.1"), ip("10.0.0.1")},
		{"ip range", both, ip("10.0.0.1/0"), ip("10.0.0.1/0")},
		{"ip range too long", both, ip("10.0.0.1/33"), nil},
		{"ip range of words", both, ip("10.0.0.1/x"), nil},
		{"ip of three", both, ip("10.0.1"), nil},
		{"ip too large", both, ip("10.0.0.256"), nil},
		{"super", both, of("super", ""), nil},
		{"sasl", both, of("sasl", "x"), nil},
		{"bogus", both, of("bogus", "x"), nil},
		{"no scheme", both, of("", ""), nil},
		{"one bad entry spoils all", both, append(world(1), of("bogus", "x")...), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := testDraft(test.by).expandACL(test.list)
			if test.want == nil && err == proto.InvalidACL {
				return
			}
			if diff := cmp.Diff(test.want, got); diff != "" || err != proto.OK {
				t.Errorf("%s\n%s", err, diff)
			}
		})
	}
}

// TestNullIDs compares with a real server's replies to a connection with a digest identity.
func TestNullIDs(t *testing.T) {
	entry := func(perms int32, scheme, id string) proto.ACL {
		return proto.ACL{Perms: perms, Scheme: scheme, ID: id}
	}
	const null = proto.Null
	tests := []struct {
		list []proto.ACL
		want proto.ErrCode
	}{
		{[]proto.ACL{entry(31, "world", null)}, proto.MarshallingError},
		{[]proto.ACL{entry(31, "digest", null)}, proto.MarshallingError},
		{[]proto.ACL{entry(31, "ip", null)}, proto.MarshallingError},
		{[]proto.ACL{entry(31, "bogus", null)}, proto.InvalidACL},
		{[]proto.ACL{entry(31, "", null)}, proto.InvalidACL},
		{[]proto.ACL{entry(31, "auth", null)}, proto.OK},
		{[]proto.ACL{entry(31, "auth", null), entry(31, "auth", "x")}, proto.OK},
		{[]proto.ACL{entry(31, "auth", "x"), entry(31, "auth", null)}, proto.MarshallingError},
		{[]proto.ACL{entry(31, "bogus", "x"), entry(31, "world", null)}, proto.InvalidACL},
		{[]proto.ACL{entry(31, "bogus", "x"), entry(1, "bogus", null)}, proto.InvalidACL},
		{[]proto.ACL{entry(31, "bogus", "x"), entry(31, "bogus", null)}, proto.MarshallingError},
	}
	for _, test := range tests {
		if _, err := testDraft(asAlice()).expandACL(test.list); err != test.want {
			t.Errorf("%+v: got %s, want %s", test.list, err, test.want)
		}
	}
	s := newStore(t)
	r := do(t, s, guest(), multi(create("/a"), createACL("/b", tests[0].list)))
	check.Diff(t, r, Result{Err: proto.MarshallingError})
}

func TestWhoMayRead(t *testing.T) {
	from := func(ip string) Caller { return Caller{IDs: []proto.ID{{Scheme: "ip", ID: ip}}} }
	ip := func(id string) []proto.ACL { return []proto.ACL{{Perms: 1, Scheme: "ip", ID: id}} }
	tests := []struct {
		name string
		acl  []proto.ACL
		by   Caller
		want bool
	}{
		{"world", world(proto.PermRead), guest(), true},
		{"other permissions", world(proto.PermAll &^ proto.PermRead), guest(), false},
		{"nobody may", world(0), asAlice(), false},
		{"super may", world(0), Caller{Super: true}, true},
		{"super by identity", world(0), Caller{IDs: []proto.ID{{Scheme: "super"}}}, true},
		{"alice", aliceOnly, asAlice(), true},
		{"not alice", aliceOnly, guest(), false},
		{"address", ip("127.0.0.1"), from("127.0.0.1"), true},
		{"neighbour", ip("127.0.0.2"), from("127.0.0.1"), false},
		{"first bits", ip("127.9.9.9/8"), from("127.0.0.1"), true},
		{"other first bits", ip("126.9.9.9/8"), from("127.0.0.1"), false},
		{"all addresses", ip("1.2.3.4/0"), from("127.0.0.1"), true},
		{"no address", ip("1.2.3.4/0"), Caller{}, false},
		{"IPv6 address", ip("1.2.3.4/0"), from("::1"), false},
	}
	for _, test := range tests {
		check.Equal(t, CanRead(test.acl, test.by), test.want, "%s", test.name)
	}
}

func TestGetACLMasksHashesWithoutAdmin(t *testing.T) {
	full := []proto.ACL{
		{Perms: proto.PermAll, Scheme: "digest", ID: "alice:hashA"},
		{Perms: proto.PermRead, Scheme: "world", ID: "anyone"},
	}
	s := newStore(t)
	must(t, s, asAlice(), createACL("/a", full), createACL("/none", world(proto.PermWrite)))
	hidden := []proto.ACL{{Perms: proto.PermAll, Scheme: "digest", ID: "alice:x"}, full[1]}
	for _, test := range []struct {
		by   Caller
		want []proto.ACL
	}{{asAlice(), full}, {guest(), hidden}} {
		got, _, err := s.ACL("/a", test.by)
		if diff := cmp.Diff(test.want, got); diff != "" || err != proto.OK {
			t.Errorf("%s\n%s", err, diff)
		}
	}
	if _, _, err := s.ACL("/none", guest()); err != proto.NoAuth {
		t.Error(err)
	}
	if n, _ := s.Node("/a"); n.ACL[0].ID != "alice:hashA" {
		t.Error("masking changed the store")
	}
}

func TestConfigIsForSuperToWrite(t *testing.T) {
	s := newStore(t)
	if r := do(t, s, guest(), set("/zookeeper/config", "x", -1)); r.Err != proto.NoAuth {
		t.Error(r.Err)
	}
	must(t, s, Caller{Super: true}, set("/zookeeper/config", "x", -1))
}

func TestDigestID(t *testing.T) {
	// As printed by DigestAuthenticationProvider's main.
	tests := map[string]string{
		"super:super123": "super:UdxDQl4f9v5oITwcAsO9bmWgHSI=",
		"a:b:c":          "a:cLzgnoJ6mP5qz3w+mwvPE2vDgu0=",
		"":               ":2jmj7l5rSw0yVb/vlWAYkK/YBwk=",
	}
	for data, want := range tests {
		check.Equal(t, DigestID([]byte(data)), (proto.ID{Scheme: "digest", ID: want}),
			"%q", data)
	}
}

// In Java the dot matches no line terminator, and replaceAll goes on behind it.
func TestMaskingEndsWithTheLine(t *testing.T) {
	for id, want := range map[string]string{
		"u:hash":           "u:x",
		"u":                "u",
		"u:a:b":            "u:x",
		"u:ab\ncd":         "u:x\ncd",
		"u:a\rb:c":         "u:x\rb:x",
		"u:a\u0085b":       "u:x\u0085b",
		"u:a\u2028b\u2029": "u:x\u2028b\u2029",
		"u:a\vb":           "u:x",
		"u:":               "u:x",
	} {
		got := masked([]proto.ACL{{Scheme: "digest", ID: id}})[0].ID
		check.Equal(t, got, want, "%q", id)
	}
}

// Java accepts the digits of every script that are one char.
func TestAddressesInAllDigits(t *testing.T) {
	for text, want := range map[string]bool{
		"1.2.3.4": true, "١.٢.٣.٤": true, "１.2.3.4/８": true, "𝟏.2.3.4": false, "²5.2.3.4": false,
		"+1.2.3.4": true, "1_0.2.3.4": false,
	} {
		address, _, ok := parseIPRange(text)
		if ok != want || ok && address != 0x01020304 {
			t.Errorf("%q: %#x, %v; want %v", text, address, ok, want)
		}
	}
}

// BenchmarkLongACL sets an ACL with many entries; ns/entry must not grow with their number.
func BenchmarkLongACL(b *testing.B) {
	for _, n := range []int{1 << 9, 1 << 13} {
		list := make([]proto.ACL, n)
		for i := range list {
			list[i] = proto.ACL{Perms: 1, Scheme: "digest", ID: fmt.Sprintf("user%d:hash", i)}
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := testDraft(Caller{}).expandACL(list); err != proto.OK {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/entry")
		})
	}
}

func TestExpandedACLsAreBounded(t *testing.T) {
	by := Caller{}
	for i := range 300 {
		by.IDs = append(by.IDs, proto.ID{Scheme: "digest", ID: fmt.Sprintf("user%d:hash", i)})
	}
	var list []proto.ACL
	for perms := range int32(300) {
		list = append(list, proto.ACL{Perms: perms, Scheme: "auth"})
	}
	if _, err := testDraft(by).expandACL(list[:200]); err != proto.OK {
		t.Errorf("60,000 entries: %s", err)
	}
	if _, err := testDraft(by).expandACL(list); err != proto.InvalidACL {
		t.Errorf("90,000 entries: %s; want %s", err, proto.InvalidACL)
	}
}

// testDraft is the draft of a caller at a server without SASL.
func testDraft(by Caller) *draft { return &draft{store: New(Config{}), by: by} }
