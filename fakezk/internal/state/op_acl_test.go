package state

import (
	"fmt"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

// TestWhoMayRead has what package conform cannot ask (families/acl.txt).
func TestWhoMayRead(t *testing.T) {
	from := func(ip string) Caller { return Caller{IDs: []proto.ID{{Scheme: "ip", ID: ip}}} }
	ip := func(id string) []proto.ACL { return []proto.ACL{{Perms: 1, Scheme: "ip", ID: id}} }
	tests := []struct {
		name string
		acl  []proto.ACL
		by   Caller
		want bool
	}{
		{"super by identity", world(0), Caller{IDs: []proto.ID{{Scheme: "super"}}}, true},
		{"other first bits", ip("126.9.9.9/8"), from("127.0.0.1"), false},
		{"no address", ip("1.2.3.4/0"), Caller{}, false},
		{"IPv6 address", ip("1.2.3.4/0"), from("::1"), false},
	}
	for _, test := range tests {
		check.Equal(t, CanRead(test.acl, test.by), test.want, "%s", test.name)
	}
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
