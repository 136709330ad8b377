package fakezk

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
)

// roster names the sessions of a Server S1, S2, ... in order of their creation,
// and counts their connections.
type roster struct {
	created int
	live    map[int64]*member
}

type member struct {
	name        string
	connections int
	sink        sink // of the last connection
}

// note takes in which sessions began and ended.
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

// connect counts a connection of a live session and returns the session's name
// and the number of the connection, from 1.
func (r *roster) connect(id int64, k sink) (name string, number int) {
	m := r.live[id]
	m.connections++
	m.sink = k
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
	digits, ok := strings.CutPrefix(client, "S")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || strconv.Itoa(n) != digits {
		return "", fmt.Errorf(
			"client=%s: expected a session, S1 being the first that was created, "+
				"or 0x and its id", client)
	}
	if n <= r.created && r.find(client) == 0 {
		return "", fmt.Errorf("client=%s: the session has ended", client)
	}
	return client, nil
}
