package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"time"
)

// An answer is what the client gets: a reply, or a stream.
type answer interface {
	send(w http.ResponseWriter) error
}

// A reply is an answer as a whole, in pieces, which waits for its reader.
type reply struct {
	status      int
	contentType string
	pieces      [][]byte
	bytes       int
	share       *share
}

// Write adds to the reply.
func (r *reply) Write(p []byte) (int, error) {
	if err := r.share.grow(len(p)); err != nil {
		return 0, err
	}
	r.bytes += len(p)
	for rest := p; len(rest) > 0; {
		last := len(r.pieces) - 1
		switch {
		case last < 0:
			r.pieces = append(r.pieces, nil) // grows, as most replies are short
			last = 0
		case len(r.pieces[last]) == pieceBytes:
			r.pieces = append(r.pieces, make([]byte, 0, pieceBytes))
			last++
		}
		n := min(len(rest), pieceBytes-len(r.pieces[last]))
		r.pieces[last] = append(r.pieces[last], rest[:n]...)
		rest = rest[n:]
	}
	return len(p), nil
}

// encode fills the reply with the value of a handler.
func (r *reply) encode(value any) error {
	r.contentType = "application/json"
	switch value := value.(type) {
	case rawReply:
		r.contentType = value.contentType
		return value.write(r)
	case interface{ encode(io.Writer) error }:
		return value.encode(r)
	}
	return encodeJSON(r, value, "", "  ")
}

// encodeJSON writes a value with a new line behind it. A person who asks by curl reads -> as it is.
func encodeJSON(w io.Writer, value any, prefix, indent string) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, indent)
	return enc.Encode(value)
}

// send writes the reply. A client that does not take a piece in time loses the connection.
func (r *reply) send(w http.ResponseWriter) error {
	defer r.share.release()
	w.Header().Set("Content-Type", r.contentType)
	w.Header().Set("Content-Length", strconv.Itoa(r.bytes))
	end := time.Now().Add(requestTimeout)
	w.WriteHeader(r.status)
	for i, piece := range r.pieces {
		at := time.Now().Add(pieceTimeout)
		if at.After(end) {
			at = end
		}
		setWriteDeadline(w, at)
		if _, err := w.Write(piece); err != nil {
			return err
		}
		r.pieces[i] = nil
		r.share.shrink(len(piece))
	}
	return nil
}

// rawReply is a reply that is no JSON of ours.
type rawReply struct {
	contentType string
	write       func(io.Writer) error
}

// rawText is a reply with a text.
func rawText(contentType string, text []byte) rawReply {
	return rawReply{contentType, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}}
}

// A list is a JSON list, of which one entry at a time is in memory besides its text.
type list[T any] iter.Seq[T]

// listOf is the list of what f makes of each value.
func listOf[V, T any](values []V, f func(V) T) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, v := range values {
			if !yield(f(v)) {
				return
			}
		}
	}
}

func (l list[T]) encode(w io.Writer) error {
	before, end := "[\n  ", "[]\n"
	for entry := range l {
		text := bytes.NewBufferString(before)
		if err := encodeJSON(text, entry, "  ", "  "); err != nil {
			return err
		}
		if _, err := w.Write(bytes.TrimSuffix(text.Bytes(), []byte("\n"))); err != nil {
			return err
		}
		before, end = ",\n  ", "\n]\n"
	}
	_, err := io.WriteString(w, end)
	return err
}

// statusError is an error with its HTTP status.
type statusError struct {
	status  int
	message string
}

func (e *statusError) Error() string { return e.message }

func failure(status int, format string, args ...any) error {
	return &statusError{status, fmt.Sprintf(format, args...)}
}

var (
	errStops = failure(http.StatusServiceUnavailable, "the server stops")
	errFull  = failure(http.StatusServiceUnavailable, "the bodies and replies of other requests "+
		"take %d MiB already; ask again later", maxHeld>>20)
)

// statusOf is the HTTP status of an error.
func statusOf(err error) int {
	var own *statusError
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &own):
		return own.status
	case errors.As(err, &tooLong):
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

// errorEntry is the reply of a request with an error.
type errorEntry struct {
	Error string `json:"error"`
}

// refusal is the reply with an error.
func refusal(err error) *reply {
	r := &reply{status: statusOf(err)}
	_ = r.encode(errorEntry{err.Error()}) // text can be encoded, and is not counted
	return r
}
