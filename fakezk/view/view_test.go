package view

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
)

func TestStrings(t *testing.T) {
	for _, test := range []struct {
		value fmt.Stringer
		want  string
	}{
		{Node{Path: "/a", Data: []byte("x")}, `/a persistent version 0 "x"`},
		{Node{Path: "/a", Kind: EphemeralNode, Owner: 1}, "/a ephemeral of 0x1 version 0 null"},
		{Node{Path: "/a", Kind: TTLNode, TTL: time.Second, Data: []byte{}, Version: 2},
			`/a ttl 1s version 2 ""`},
		{Node{Path: "/a", Data: []byte(strings.Repeat("x", 61))},
			`/a persistent version 0 "` + strings.Repeat("x", 60) + `"... (61 bytes)`},
		{Nodes{{Path: "/a"}, {Path: "/b", Data: []byte("x")}},
			"/a persistent version 0 null\n/b persistent version 0 \"x\"\n"},
		{Session{ID: 1, Timeout: time.Second}, "0x1 timeout 1s not connected"},
		{Session{ID: -1, Name: "S1", Connected: true, Ephemerals: []string{"/a"}},
			"S1 0xffffffffffffffff timeout 0s connected, owns [/a]"},
		{Watch{Path: "/a", Session: 1}, "/a node, standard, of 0x1"},
		{Watch{Path: "/a", Children: true, Mode: RecursiveWatch},
			"/a children, persistent-recursive, of 0x0"},
		{Record{Number: 7, Session: "S1", Text: "-> sync /"}, "7 S1 -> sync /"},
		{Record{Number: 8, Text: "call: reset"}, "8 call: reset"},
	} {
		check.Equal(t, test.value.String(), test.want)
	}
}
