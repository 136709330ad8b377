package engine

import (
	"slices"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
)

// answerAuth adds an identity to the connection. A scheme that the server does
// not know is refused and the connection closed; the session lives on.
func (e *Engine) answerAuth(c *conn, r *Request, req *proto.Auth) {
	ok := false
	switch req.Scheme {
	case "digest":
		if ok = req.Data != nil; ok {
			if id := state.DigestID(req.Data); !slices.Contains(c.ids, id) {
				// Not append: a Caller handed out earlier must not change.
				c.ids = append(slices.Clip(c.ids), id)
			}
		}
	case "ip":
		ok = true
	}
	if !ok {
		r.Err = proto.AuthFailed
	}
	e.reply(c, r)
	if !ok {
		e.hangUp(c)
	}
}
