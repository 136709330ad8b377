package engine

import (
	"errors"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/digestmd5"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// authenticate answers auth and sasl. The real server does so before the request enters
// its pipeline, so the zxid of the reply is 0.
func (e *Engine) authenticate(c *conn, r *Request) {
	switch req := r.Body.(type) {
	case *proto.Auth:
		e.answerAuth(c, r, req)
	case *proto.Sasl:
		e.answerSasl(c, r, req)
	}
}

// saslRealm is the realm of a real server's challenges, whatever its host.
const saslRealm = "zk-sasl-md5"

// answerSasl answers a token. A failed authentication ends the connection; the session lives on. A
// server without users answers with a null token.
func (e *Engine) answerSasl(c *conn, r *Request, req *proto.Sasl) {
	reply, user, err := e.evaluate(c, req.Token)
	if req.Token == nil || errors.Is(err, digestmd5.ErrNumber) {
		r.Silent = true
		e.hangUp(c)
		return
	}
	if err != nil {
		r.Err = proto.AuthFailed
	} else if user != "" {
		c.ids.Add(proto.ID{Scheme: "sasl", ID: user})
	}
	r.Reply = proto.SaslReply{Token: reply}
	e.reply(c, r)
	if err != nil {
		e.hangUp(c)
	}
}

// evaluate returns the server's answer to a token, and the user whose password it has proved.
func (e *Engine) evaluate(c *conn, token []byte) (reply []byte, user string, err error) {
	if len(e.cfg.SASLUsers) == 0 || token == nil {
		return nil, "", nil
	}
	if c.sasl == nil {
		c.sasl = digestmd5.NewExchange(saslRealm, "zookeeper/"+saslRealm, e.cfg.Nonce())
	}
	return c.sasl.Answer(token, e.cfg.SASLUsers)
}

// mostIdentities bounds the bytes of the identities of a connection. A real server has no bound.
const mostIdentities = 16 << 20

// answerAuth adds an identity to the connection. At an unknown scheme, and with more than
// mostIdentities bytes, it refuses and closes the connection; the session lives on. Scheme ip adds
// nothing, as the address is an identity from the start.
func (e *Engine) answerAuth(c *conn, r *Request, req *proto.Auth) {
	switch {
	case req.Scheme == "digest" && req.Data != nil && c.ids.Bytes() <= mostIdentities:
		id := state.DigestID([]byte(wire.Text(req.Data)))
		if id.ID == e.cfg.SuperDigest {
			c.ids.Add(proto.ID{Scheme: "super"})
		}
		c.ids.Add(id)
	case req.Scheme == "ip":
	default:
		r.Err = proto.AuthFailed
	}
	e.reply(c, r)
	if r.Err != proto.OK {
		e.hangUp(c)
	}
}

// publicIDs returns identities as whoAmI shows them: of a digest the user name alone.
func publicIDs(ids []proto.ID) []proto.ID {
	list := make([]proto.ID, len(ids))
	for i, id := range ids {
		if id.Scheme == "digest" {
			id.ID, _, _ = strings.Cut(id.ID, ":")
		}
		list[i] = id
	}
	return list
}
