package cli

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

var actEndpoints = []endpoint{
	{
		Method: "POST", Path: "/load", Takes: "a tree file, ?format=yaml or json", Does: "load it",
		handle: postLoad, query: []string{"format"},
	},
	{
		Method: "POST", Path: "/expire", Takes: `{"session":"S1"}`, Does: "end a session",
		handle: postExpire,
	},
	{
		Method: "POST", Path: "/drop", Takes: `{"session":"S1"} or nothing for all`,
		Does: "close connections", handle: postDrop,
	},
	{
		Method: "POST", Path: "/stall", Takes: `{"for":"2s","session":"S1"}, without session for all`,
		Does: "hold connections", handle: postStall,
	},
	{
		Method: "POST", Path: "/stop", Takes: `{"server":1} or nothing for all`,
		Does: "close the connections and refuse new ones", handle: postStop,
	},
	{
		Method: "POST", Path: "/restart", Takes: `{"server":1} or nothing for all`,
		Does: "close the connections and serve again, with nodes and sessions", handle: postRestart,
	},
	{Method: "POST", Path: "/reset", Does: "make the server as new", handle: postReset},
}

// sessionRequest is the body of a request that may name a session.
type sessionRequest struct {
	Session sessionName // "" for all
	For     string      // the duration of a stall
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

// sessionsOf reads a request that may name a session. No ids mean all sessions. lasts says that the
// request takes a duration.
func (r *controlRequest) sessionsOf(
	lasts bool,
) (req sessionRequest, ids []int64, err error) {
	err = decodeBody(r.Request, jsonFields{"session": &req.Session, "for": &req.For})
	if err == nil && req.For != "" && !lasts {
		err = errors.New("for goes with /stall only")
	}
	if err != nil || req.Session == "" {
		return req, nil, err
	}
	id, err := findSession(r.Server, string(req.Session))
	return req, []int64{id}, err
}

func postExpire(r *controlRequest) (any, error) {
	_, ids, err := r.sessionsOf(false)
	if err == nil && ids == nil {
		err = errors.New(`session is missing; expected {"session":"S1"}`)
	}
	if err != nil {
		return nil, err
	}
	if err := r.ExpireSession(ids[0]); err != nil {
		return nil, failure(http.StatusNotFound, "%v", err)
	}
	return map[string]string{"expired": sessionText(ids[0])}, nil
}

func postDrop(r *controlRequest) (any, error) {
	req, ids, err := r.sessionsOf(false)
	if err != nil {
		return nil, err
	}
	r.DropConnections(ids...)
	return map[string]string{"dropped": nameOfAll(req.Session)}, nil
}

func postStall(r *controlRequest) (any, error) {
	req, ids, err := r.sessionsOf(true)
	if err != nil {
		return nil, err
	}
	d, err := time.ParseDuration(req.For)
	if err != nil || d <= 0 {
		return nil, fmt.Errorf("for: %q; expected a positive duration such as 2s", req.For)
	}
	r.StallConnections(d, ids...)
	return map[string]string{"stalled": nameOfAll(req.Session), "for": d.String()}, nil
}

// nameOfAll is the name of a session, or "all".
func nameOfAll(session sessionName) string {
	if session == "" {
		return "all"
	}
	return string(session)
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

// serversOf reads a request that may name a server. No number means all.
func (r *controlRequest) serversOf() ([]int, error) {
	var server *serverNumber
	if err := decodeBody(r.Request, jsonFields{"server": &server}); err != nil || server == nil {
		return nil, err
	}
	if most := len(r.Addresses()); *server < 1 || int(*server) > most {
		return nil, fmt.Errorf("server: %d; expected 1 to %d", *server, most)
	}
	return []int{int(*server)}, nil
}

func postStop(r *controlRequest) (any, error) {
	servers, err := r.serversOf()
	if err != nil {
		return nil, err
	}
	r.Stop(servers...)
	return getServer(r)
}

func postRestart(r *controlRequest) (any, error) {
	servers, err := r.serversOf()
	if err != nil {
		return nil, err
	}
	r.Restart(servers...)
	return getServer(r)
}

func postReset(r *controlRequest) (any, error) {
	if err := decodeBody(r.Request, nil); err != nil {
		return nil, err
	}
	r.Reset()
	return map[string]bool{"reset": true}, nil
}

func postLoad(r *controlRequest) (any, error) {
	format, err := requestedFormat(r.Request)
	if err != nil {
		return nil, err
	}
	body, err := readBody(r.Request, tree.MaxBytes)
	if err != nil {
		return nil, err
	}
	t, err := tree.Parse("body", format, body)
	if err != nil {
		return nil, err
	}
	err = t.Load(r.Server)
	if errors.Is(err, fakezk.ErrConflict) {
		return nil, failure(http.StatusConflict, "%v", err)
	}
	return map[string]int{"nodes": len(t.Nodes)}, err
}
