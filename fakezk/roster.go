package fakezk

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
)

// roster names the sessions of a Server, and counts their connections. A session is called S1, S2,
// ... in the order of creation, or by the name that was given to DialerAs.
type roster struct {
	created int
	live    map[int64]*member
	named   map[string]int // the sessions that each name of DialerAs has had
}

type member struct {
	name        string
	connections int
	sink        sink // of the last connection
}

// note records the sessions that began and ended.
func (r *roster) note(applied []engine.Applied) {
	for i := range applied {
		switch id := applied[i].Txn.Session; applied[i].Txn.Op {
		case proto.OpCreateSession:
			r.add(id)
		case proto.OpCloseSession:
			delete(r.live, id)
		}
	}
}

func (r *roster) add(id int64) {
	if r.live[id] != nil {
		return
	}
	if r.live == nil {
		r.live = map[int64]*member{}
	}
	r.created++
	r.live[id] = &member{name: "S" + strconv.Itoa(r.created)}
}

// expect records a name that sessions will have.
func (r *roster) expect(name string) {
	if r.named == nil {
		r.named = map[string]int{}
	}
	r.named[name] += 0
}

// connect counts a connection of a live session and returns the session's name and the number of
// the connection, from 1. The first connection of a client with a name names the session.
func (r *roster) connect(id int64, client string, k sink) (name string, number int) {
	m := r.live[id]
	m.connections++
	m.sink = k
	if m.connections == 1 && client != "" {
		m.name = client
		if r.named[client]++; r.named[client] > 1 {
			m.name = fmt.Sprintf("%s.%d", client, r.named[client])
		}
	}
	return m.name, m.connections
}

// name is the name of a live session, "" for any other.
func (r *roster) name(id int64) string {
	if m := r.live[id]; m != nil {
		return m.name
	}
	return ""
}

// find is the id of a live session with this name, 0 if there is none.
func (r *roster) find(name string) int64 {
	for id, m := range r.live { // at most one has it
		if m.name == name {
			return id
		}
	}
	return 0
}

// resolve turns the name or the id of a session into its name. A session that is still to come has
// a name, one that has ended is an error.
func (r *roster) resolve(client string) (string, error) {
	if digits, ok := strings.CutPrefix(client, "0x"); ok {
		id, err := strconv.ParseUint(digits, 16, 64)
		if err != nil {
			return "", fmt.Errorf(
				"client=%s: expected up to 16 hexadecimal digits after 0x", client,
			)
		}
		if name := r.name(int64(id)); name != "" {
			return name, nil
		}
		return "", fmt.Errorf("client=%s: no such session", client)
	}
	if r.find(client) != 0 {
		return client, nil
	}
	known, ended := r.numberOf(client)
	switch {
	case ended:
		return "", fmt.Errorf("client=%s: the session has ended, or has a name of DialerAs", client)
	case !known:
		return "", fmt.Errorf("client=%s: expected a session, S1 being the first that was "+
			"created, 0x and its id, or a name given to DialerAs%s", client, r.names())
	}
	return client, nil
}

// numberOf reports whether a name belongs to a session that lives, has lived or may still come, and
// whether that session has ended.
func (r *roster) numberOf(client string) (known, past bool) {
	if n, ok := sessionNumber(client); ok {
		return true, n <= r.created
	}
	name, n := client, 1
	if before, digits, ok := strings.Cut(client, "."); ok {
		number, err := strconv.Atoi(digits)
		if err != nil || number < 2 || strconv.Itoa(number) != digits {
			return false, false
		}
		name, n = before, number
	}
	had, ok := r.named[name]
	return ok, ok && n <= had
}

// names lists the names that were given to DialerAs, for an error.
func (r *roster) names() string {
	if len(r.named) == 0 {
		return ""
	}
	return " (" + strings.Join(slices.Sorted(maps.Keys(r.named)), ", ") + ")"
}

// sessionNumber is n for the name Sn.
func sessionNumber(name string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(name, "S")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 1 && strconv.Itoa(n) == digits
}

// checkName returns an error for a name that DialerAs does not take.
func checkName(name string) error {
	_, numbered := sessionNumber(name)
	if !numbered && !strings.HasPrefix(name, "0x") &&
		!strings.ContainsFunc(name, func(r rune) bool {
			return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}) {
		return nil
	}
	return fmt.Errorf("fakezk: name %q of a client: expected letters, digits, _ and -, "+
		"and neither S with a number nor 0x at the beginning", name)
}
