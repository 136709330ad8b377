package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/zksim/zksim/fakezk"
)

// The requests of this file change the server.

// sessionRequest is the body of a request that may name a session.
type sessionRequest struct {
	Session sessionName // "" for all
	For     string      // the duration of a stall
}

// sessionName is a session's name: S1, 0x and hexadecimal digits, or a decimal number.
type sessionName string

// UnmarshalJSON takes text and whole numbers. It refuses "", which could be a mistake of a
// script and would mean all sessions.
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

// sessionsOf reads a request that may name a session. No ids mean all sessions. lasts
// says that the request takes a duration.
func (c *controlServer) sessionsOf(
	r *http.Request, lasts bool,
) (req sessionRequest, ids []int64, err error) {
	err = decodeBody(r, jsonFields{"session": &req.Session, "for": &req.For})
	if err == nil && req.For != "" && !lasts {
		err = errors.New("for goes with /stall only")
	}
	if err != nil || req.Session == "" {
		return req, nil, err
	}
	id, err := findSession(c.server, string(req.Session))
	return req, []int64{id}, err
}

func (c *controlServer) postExpire(r *http.Request) (any, error) {
	_, ids, err := c.sessionsOf(r, false)
	if err == nil && ids == nil {
		err = errors.New(`session is missing; expected {"session":"S1"}`)
	}
	if err != nil {
		return nil, err
	}
	if err := c.server.ExpireSession(ids[0]); err != nil {
		return nil, failure(http.StatusNotFound, "%v", err)
	}
	return map[string]string{"expired": sessionText(ids[0])}, nil
}

func (c *controlServer) postDrop(r *http.Request) (any, error) {
	req, ids, err := c.sessionsOf(r, false)
	if err != nil {
		return nil, err
	}
	c.server.DropConnections(ids...)
	return map[string]string{"dropped": nameOfAll(req.Session)}, nil
}

func (c *controlServer) postStall(r *http.Request) (any, error) {
	req, ids, err := c.sessionsOf(r, true)
	if err != nil {
		return nil, err
	}
	d, err := time.ParseDuration(req.For)
	if err != nil || d <= 0 {
		return nil, fmt.Errorf("for: %q; expected a positive duration such as 2s", req.For)
	}
	c.server.StallConnections(d, ids...)
	return map[string]string{"stalled": nameOfAll(req.Session), "for": d.String()}, nil
}

// nameOfAll is the name of a session, or "all".
func nameOfAll(session sessionName) string {
	if session == "" {
		return "all"
	}
	return string(session)
}

// postFault arms one fault given as JSON, or the lines of a plan.
func (c *controlServer) postFault(r *http.Request) (any, error) {
	body, err := readBody(r, maxControlBody)
	if err != nil {
		return nil, err
	}
	text := string(body)
	if looksLikeJSON(body) {
		text = ""
		if err := decodeObject(body, jsonFields{"line": &text}); err != nil {
			return nil, err
		}
	}
	plan, err := parsePlan("line", text)
	if err != nil {
		return nil, err
	}
	if len(plan) == 0 {
		return nil, errors.New(
			`no fault; expected {"line":"drop-reply op=create request=1"} or lines as in a plan`,
		)
	}
	if err := armPlan(c.server, plan); err != nil {
		return nil, failure(http.StatusConflict, "%v; the lines before it are armed", err)
	}
	armed := []string{}
	for _, p := range plan {
		armed = append(armed, p.fault.String())
	}
	return map[string]any{"armed": armed}, nil
}

func (c *controlServer) postClear(r *http.Request) (any, error) {
	if err := decodeBody(r, nil); err != nil {
		return nil, err
	}
	n := len(c.server.Faults())
	c.server.ClearFaults()
	return map[string]int{"cleared": n}, nil
}

func (c *controlServer) postReset(r *http.Request) (any, error) {
	if err := decodeBody(r, nil); err != nil {
		return nil, err
	}
	c.server.Reset()
	return map[string]bool{"reset": true}, nil
}

func (c *controlServer) postLoad(r *http.Request) (any, error) {
	format, err := requestedFormat(r)
	if err != nil {
		return nil, err
	}
	body, err := readBody(r, maxTreeFile)
	if err != nil {
		return nil, err
	}
	if format == "" {
		format = treeYAML
		if looksLikeJSON(bytes.TrimPrefix(body, []byte(byteOrderMark))) {
			format = treeJSON
		}
	}
	tree, err := parseTree("body", format, body)
	if err != nil {
		return nil, err
	}
	err = tree.load(c.server)
	if errors.Is(err, fakezk.ErrConflict) {
		return nil, failure(http.StatusConflict, "%v", err)
	}
	return map[string]int{"nodes": len(tree.nodes)}, err
}
