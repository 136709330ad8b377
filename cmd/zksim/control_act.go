package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// What follows changes the server.

// sessionRequest names a session: S1, 0x and hexadecimal digits, or a decimal
// number, as text or as a JSON number.
type sessionRequest struct {
	Session sessionName `json:"session"`
	For     string      `json:"for"`
}

type sessionName string

// UnmarshalJSON takes text and whole numbers.
func (n *sessionName) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*n = sessionName(text)
		return nil
	}
	var number json.Number
	if err := json.Unmarshal(data, &number); err != nil {
		return fmt.Errorf("session: %s; expected text such as \"S1\" or a number", data)
	}
	*n = sessionName(number)
	return nil
}

// sessionsOf reads a request that may name a session; none means all. Only a
// stall lasts.
func (c *controlServer) sessionsOf(r *http.Request, lasts bool) (req sessionRequest, ids []int64, err error) {
	err = decodeBody(r, &req)
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
		var req struct {
			Line string `json:"line"`
		}
		if err := decodeJSON(body, &req); err != nil {
			return nil, err
		}
		text = req.Line
	}
	plan, err := parsePlan("line", text)
	if err != nil {
		return nil, err
	}
	if len(plan) == 0 {
		return nil, errors.New(`no fault; expected {"line":"drop-reply op=create request=1"} or lines as in a plan`)
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
	if err := decodeBody(r, &struct{}{}); err != nil {
		return nil, err
	}
	c.log.look() // at what fired, as the list is about to go
	n := len(c.server.Faults())
	c.server.ClearFaults()
	return map[string]int{"cleared": n}, nil
}

func (c *controlServer) postReset(r *http.Request) (any, error) {
	if err := decodeBody(r, &struct{}{}); err != nil {
		return nil, err
	}
	c.log.look()
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
		if looksLikeJSON(body) {
			format = treeJSON
		}
	}
	specs, err := parseTree("body", format, body)
	if err != nil {
		return nil, err
	}
	if err := c.server.Load(specs); err != nil {
		return nil, failure(http.StatusConflict, "%v", err)
	}
	return map[string]int{"nodes": len(specs)}, nil
}

// readBody reads at most limit bytes.
func readBody(r *http.Request, limit int64) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, limit))
	if err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}
	return body, nil
}

func looksLikeJSON(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(body), []byte("{"))
}

// decodeBody reads a JSON object; no body at all is an empty object.
func decodeBody(r *http.Request, into any) error {
	body, err := readBody(r, maxControlBody)
	if err != nil || len(bytes.TrimSpace(body)) == 0 {
		return err
	}
	return decodeJSON(body, into)
}

// decodeJSON is strict: unknown keys are errors, and so is what follows.
func decodeJSON(body []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("body: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("body: found more after the JSON object; expected nothing")
	}
	return nil
}
