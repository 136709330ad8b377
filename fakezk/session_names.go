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

// sessionNames names the sessions of a Server, and counts their connections. A session is called
// S1, S2, ... in the order of creation, or by the name that was given to DialerAs.
type sessionNames struct {
	created int
	live    map[int64]*namedSession
	named   map[string]int // the sessions that each name of DialerAs has had
}

type namedSession struct {
	name        string
	connections int
	sink        sink // of the last connection
}

func newSessionNames() *sessionNames {
	return &sessionNames{live: map[int64]*namedSession{}, named: map[string]int{}}
}

// note records the sessions that began and ended.
func (s *sessionNames) note(applied []engine.Applied) {
	for i := range applied {
		switch id := applied[i].Txn.Session; applied[i].Txn.Op {
		case proto.OpCreateSession:
			if s.live[id] == nil {
				s.created++
				s.live[id] = &namedSession{name: "S" + strconv.Itoa(s.created)}
			}
		case proto.OpCloseSession:
			delete(s.live, id)
		}
	}
}

// expect records a name that sessions will have.
func (s *sessionNames) expect(name string) { s.named[name] += 0 }

// connect counts a connection of a live session and returns the session's name and the number of
// the connection, from 1. The first connection of a client with a name names the session.
func (s *sessionNames) connect(id int64, client string, k sink) (name string, number int) {
	m := s.live[id]
	m.connections++
	m.sink = k
	if m.connections == 1 && client != "" {
		m.name = client
		if s.named[client]++; s.named[client] > 1 {
			m.name = fmt.Sprintf("%s.%d", client, s.named[client])
		}
	}
	return m.name, m.connections
}

// lastSink is the sink of a live session's last connection, nil for any other session.
func (s *sessionNames) lastSink(id int64) sink {
	if m := s.live[id]; m != nil {
		return m.sink
	}
	return nil
}

// name is the name of a live session, "" for any other.
func (s *sessionNames) name(id int64) string {
	if m := s.live[id]; m != nil {
		return m.name
	}
	return ""
}

// find is the id of a live session with this name, 0 if there is none.
func (s *sessionNames) find(name string) int64 {
	for id, m := range s.live { // at most one has it
		if m.name == name {
			return id
		}
	}
	return 0
}

// resolve turns the name or the id of a session into its name. A session that is still to come has
// a name, one that has ended is an error.
func (s *sessionNames) resolve(client string) (string, error) {
	if digits, ok := strings.CutPrefix(client, "0x"); ok {
		id, err := strconv.ParseUint(digits, 16, 64)
		if err != nil {
			return "", fmt.Errorf(
				"client=%s: expected up to 16 hexadecimal digits after 0x", client,
			)
		}
		if name := s.name(int64(id)); name != "" {
			return name, nil
		}
		return "", fmt.Errorf("client=%s: no such session", client)
	}
	if s.find(client) != 0 {
		return client, nil
	}
	known, ended := s.numberOf(client)
	switch {
	case ended:
		return "", fmt.Errorf("client=%s: the session has ended, or has a name of DialerAs", client)
	case !known:
		return "", fmt.Errorf("client=%s: expected a session, S1 being the first that was "+
			"created, 0x and its id, or a name given to DialerAs%s", client, s.list())
	}
	return client, nil
}

// numberOf reports whether a name belongs to a session that lives, has lived or may still come, and
// whether that session has ended.
func (s *sessionNames) numberOf(client string) (known, past bool) {
	if n, ok := sessionNumber(client); ok {
		return true, n <= s.created
	}
	name, n := client, 1
	if before, digits, ok := strings.Cut(client, "."); ok {
		number, err := strconv.Atoi(digits)
		if err != nil || number < 2 || strconv.Itoa(number) != digits {
			return false, false
		}
		name, n = before, number
	}
	had, ok := s.named[name]
	return ok, ok && n <= had
}

// list has the names that were given to DialerAs, for an error.
func (s *sessionNames) list() string {
	if len(s.named) == 0 {
		return ""
	}
	return " (" + strings.Join(slices.Sorted(maps.Keys(s.named)), ", ") + ")"
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
