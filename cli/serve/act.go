package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/tree"
)

// The requests of this file change the server.

// aboutSession says what the name of a session is.
const aboutSession = "S1 for the first session, or its id as 0x... or in decimal"

// sessionBody may name a session.
type sessionBody struct {
	Session sessionName `json:"session,omitempty"` // "" for all
}

// stallBody may name a session, too.
type stallBody struct {
	For     string      `json:"for" about:"a number and ms, s or m, such as 10s"`
	Session sessionName `json:"session,omitempty"`
}

// sessionName is a session's name: S1, 0x and hexadecimal digits, or a decimal number.
type sessionName string

// UnmarshalJSON takes text and whole numbers. It refuses "", which could be a mistake of a script
// and would mean all sessions.
func (n *sessionName) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		if text == "" {
			return errors.New(`""; expected a session such as "S1", or no session at all`)
		}
		*n = sessionName(text)
		return nil
	}
	var number json.Number
	if err := json.Unmarshal(data, &number); err != nil {
		return fmt.Errorf("%s; expected text such as \"S1\" or a number", data)
	}
	*n = sessionName(number)
	return nil
}

// orAll is the name, or "all" without a name.
func (n sessionName) orAll() string {
	if n == "" {
		return "all"
	}
	return string(n)
}

// ids are the sessions of a name; none mean all sessions.
func (r *request) ids(name sessionName) ([]int64, error) {
	if name == "" {
		return nil, nil
	}
	id, err := findSession(r.Server, string(name))
	return []int64{id}, err
}

type expiredEntry struct {
	Expired string `json:"expired" about:"the id of the session"`
}

func postExpire(r *request) (expired expiredEntry, err error) {
	var body sessionBody
	if err := r.decode(&body); err != nil {
		return expired, err
	}
	ids, err := r.ids(body.Session)
	if err == nil && ids == nil {
		err = errors.New(`session is missing; expected {"session":"S1"}`)
	}
	if err != nil {
		return expired, err
	}
	if err := r.ExpireSession(ids[0]); err != nil {
		return expired, failure(http.StatusNotFound, "%v", err)
	}
	return expiredEntry{sessionText(ids[0])}, nil
}

type droppedEntry struct {
	Dropped string `json:"dropped" about:"the session, or all"`
}

func postDrop(r *request) (dropped droppedEntry, err error) {
	var body sessionBody
	if err := r.decode(&body); err != nil {
		return dropped, err
	}
	ids, err := r.ids(body.Session)
	if err != nil {
		return dropped, err
	}
	r.DropConnections(ids...)
	return droppedEntry{body.Session.orAll()}, nil
}

type stalledEntry struct {
	For     string `json:"for"`
	Stalled string `json:"stalled" about:"the session, or all"`
}

func postStall(r *request) (stalled stalledEntry, err error) {
	var body stallBody
	if err := r.decode(&body); err != nil {
		return stalled, err
	}
	ids, err := r.ids(body.Session)
	if err != nil {
		return stalled, err
	}
	d, err := time.ParseDuration(body.For)
	if err != nil || d <= 0 {
		return stalled, fmt.Errorf("for: %q; expected a positive duration such as 2s", body.For)
	}
	r.StallConnections(d, ids...)
	return stalledEntry{d.String(), body.Session.orAll()}, nil
}

// serverBody may name one of several servers.
type serverBody struct {
	Server *serverNumber `json:"server,omitempty" about:"its number, from 1"`
}

// serverNumber is the number of a server, from 1.
type serverNumber int

// UnmarshalJSON takes whole numbers only.
func (n *serverNumber) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, (*int)(n)); err != nil {
		return fmt.Errorf("found %s; expected the number of a server", data)
	}
	return nil
}

// servers reads a request that may name a server. No number means all.
func (r *request) servers() ([]int, error) {
	var body serverBody
	if err := r.decode(&body); err != nil || body.Server == nil {
		return nil, err
	}
	number, most := int(*body.Server), len(r.Addresses())
	if number < 1 || number > most {
		return nil, fmt.Errorf("server: %d; expected 1 to %d", number, most)
	}
	return []int{number}, nil
}

func postStop(r *request) (serverEntry, error) {
	servers, err := r.servers()
	if err != nil {
		return serverEntry{}, err
	}
	r.Stop(servers...)
	return getServer(r)
}

func postRestart(r *request) (serverEntry, error) {
	servers, err := r.servers()
	if err != nil {
		return serverEntry{}, err
	}
	r.Restart(servers...)
	return getServer(r)
}

type resetEntry struct {
	Reset bool `json:"reset"`
}

func postReset(r *request) (reset resetEntry, err error) {
	if err := r.decode(&struct{}{}); err != nil {
		return reset, err
	}
	r.Reset()
	r.control.memory.freed()
	return resetEntry{true}, nil
}

type loadedEntry struct {
	Nodes int `json:"nodes" about:"how many nodes the file has"`
}

func postLoad(r *request) (loaded loadedEntry, err error) {
	format, err := requestedFormat(r.Request)
	if err != nil {
		return loaded, err
	}
	t, err := tree.Parse("body", format, r.body)
	if err != nil {
		return loaded, err
	}
	return r.load(t)
}

// load makes the nodes of a tree. A long file may have been read while the server ended: then no
// node is made, which would delay the end.
func (r *request) load(t tree.Tree) (loaded loadedEntry, err error) {
	if r.control.closing.Load() {
		return loaded, errStops
	}
	defer r.control.memory.freed()
	switch err := t.Load(r.Server); {
	case errors.Is(err, fakezk.ErrConflict):
		return loaded, failure(http.StatusConflict, "%v", err)
	case errors.Is(err, fakezk.ErrStopped):
		return loaded, r.ending(err)
	case err != nil:
		return loaded, err
	}
	return loadedEntry{len(t.Nodes)}, nil
}
