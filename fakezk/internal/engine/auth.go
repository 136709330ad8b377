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
func (x *exchange) authenticate() {
	switch req := x.r.Body.(type) {
	case *proto.Auth:
		x.answerAuth(req)
	case *proto.Sasl:
		x.answerSasl(req)
	}
}

// saslRealm is the realm of a real server's challenges, whatever its host.
const saslRealm = "zk-sasl-md5"

// answerSasl answers a token. A failed authentication ends the connection; the session lives on. A
// server without users answers with a null token.
func (x *exchange) answerSasl(req *proto.Sasl) {
	reply, user, err := x.evaluate(req.Token)
	if req.Token == nil || errors.Is(err, digestmd5.ErrNumber) {
		x.hangUp()
		return
	}
	if err != nil {
		x.r.Err = proto.AuthFailed
	} else if user != "" {
		x.c.ids.Add(proto.ID{Scheme: "sasl", ID: user})
	}
	x.r.Reply = proto.SaslReply{Token: reply}
	x.c.reply(&x.r)
	if err != nil {
		x.c.hangUp()
	}
}

// evaluate returns the server's answer to a token, and the user whose password it has proved.
func (x *exchange) evaluate(token []byte) (reply []byte, user string, err error) {
	c, cfg := x.c, &x.e.cfg
	if len(cfg.SASLUsers) == 0 || token == nil {
		return nil, "", nil
	}
	if c.sasl == nil {
		c.sasl = digestmd5.NewExchange(saslRealm, "zookeeper/"+saslRealm, cfg.Nonce())
	}
	return c.sasl.Answer(token, cfg.SASLUsers)
}

// mostIdentities bounds the bytes of the identities of a connection. A real server has no bound.
const mostIdentities = 16 << 20

// answerAuth adds an identity to the connection. At an unknown scheme, and with more than
// mostIdentities bytes, it refuses and closes the connection; the session lives on. Scheme ip adds
// nothing, as the address is an identity from the start.
func (x *exchange) answerAuth(req *proto.Auth) {
	ids := &x.c.ids
	switch {
	case req.Scheme == "digest" && req.Data != nil && ids.Bytes() <= mostIdentities:
		id := state.DigestID([]byte(wire.Text(req.Data)))
		if id.ID == x.e.cfg.SuperDigest {
			ids.Add(proto.ID{Scheme: "super"})
		}
		ids.Add(id)
	case req.Scheme == "ip":
	default:
		x.r.Err = proto.AuthFailed
	}
	x.c.reply(&x.r)
	if x.r.Err != proto.OK {
		x.c.hangUp()
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
