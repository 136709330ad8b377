package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk"
)

// What follows changes the server.

// sessionRequest names a session: S1, 0x and hexadecimal digits, or a decimal
// number, as text or as a JSON number.
type sessionRequest struct {
	Session sessionName // "" for all
	For     string
}

type sessionName string

// UnmarshalJSON takes text and whole numbers, but no empty text: who has no name
// at hand does not mean everybody.
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

// sessionsOf reads a request that may name a session; none means all. Only a
// stall lasts.
func (c *controlServer) sessionsOf(r *http.Request, lasts bool) (req sessionRequest, ids []int64, err error) {
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

// jsonFields are the keys that a JSON object may have, and where values go.
type jsonFields map[string]any

// decodeBody reads a JSON object; no body at all is an empty object.
func decodeBody(r *http.Request, fields jsonFields) error {
	body, err := readBody(r, maxControlBody)
	if err != nil || len(bytes.TrimSpace(body)) == 0 {
		return err
	}
	return decodeObject(body, fields)
}

// decodeObject is strict where package json is not: keys are as they are written
// and given once, nothing is null, and nothing follows.
func decodeObject(body []byte, fields jsonFields) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	switch open, err := dec.Token(); {
	case err != nil:
		return bodyError(err)
	case open != json.Delim('{'):
		return fmt.Errorf("body: found %s; expected a JSON object", bytes.TrimSpace(body))
	}
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return bodyError(err)
		}
		key := fmt.Sprint(token)
		if seen[key] {
			return fmt.Errorf("body: %q is given twice", key)
		}
		seen[key] = true
		if err := decodeField(dec, key, fields); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return bodyError(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("body: found more after the JSON object; expected nothing")
	}
	return nil
}

// decodeField reads the value of a key.
func decodeField(dec *json.Decoder, key string, fields jsonFields) error {
	into, known := fields[key]
	if !known {
		return fmt.Errorf("body: unknown field %q", key)
	}
	var value json.RawMessage
	if err := dec.Decode(&value); err != nil {
		return bodyError(err)
	}
	if string(value) == "null" {
		return fmt.Errorf("body: %q is null; expected a value, or no %q at all", key, key)
	}
	var wrong *json.UnmarshalTypeError
	err := json.Unmarshal(value, into)
	if errors.As(err, &wrong) {
		return fmt.Errorf("body: %s: found %s; expected text", key, value)
	}
	if err != nil {
		return fmt.Errorf("body: %s: %w", key, err)
	}
	return nil
}

func bodyError(err error) error { return fmt.Errorf("body: %w", bareError(err)) }

// bareError is an error of package json without the package's name.
func bareError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON ends too early")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}
