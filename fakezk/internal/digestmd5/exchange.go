package digestmd5

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// longestToken is the length of the longest token in bytes that a client may send.
const longestToken = 4096

// ErrNumber is wrapped by the error of a token with a malformed number. Java's server throws a
// NumberFormatException there, and no SaslException.
var ErrNumber = errors.New("malformed number")

// An Exchange authenticates one client, once. Use NewExchange.
type Exchange struct {
	realm, uri, nonce string
	answered          int // tokens
}

// NewExchange returns an exchange. uri is the digest-uri that the client has to name. The nonce
// should be unpredictable; it may hold any character but quotes and backslashes.
func NewExchange(realm, uri, nonce string) *Exchange {
	return &Exchange{realm: realm, uri: uri, nonce: nonce}
}

// Answer evaluates the next token of the client. The answer to the first one, whatever it is, is
// the challenge. The answer to the second one is the server's own proof; user is then the name of
// the client, one of the keys of passwords. After an error, and after the second token, every
// further token is an error.
func (x *Exchange) Answer(token []byte, passwords map[string]string) (
	answer []byte, user string, err error,
) {
	if len(token) > longestToken {
		return nil, "", fmt.Errorf("a token of %d bytes; the longest has %d",
			len(token), longestToken)
	}
	x.answered++
	switch x.answered {
	case 1:
		return x.challenge(), "", nil
	case 2:
		return x.verify(token, passwords)
	}
	return nil, "", errors.New("the exchange is over")
}

func (x *Exchange) challenge() []byte {
	return fmt.Appendf(nil, `realm="%s",nonce="%s",charset=utf-8,algorithm=md5-sess`,
		x.realm, x.nonce)
}

// verify checks the second token, which proves that the client knows the password.
func (x *Exchange) verify(token []byte, passwords map[string]string) ([]byte, string, error) {
	r, err := parse(string(token))
	if err != nil {
		return nil, "", err
	}
	if err := x.check(r); err != nil {
		return nil, "", err
	}
	user := r["username"]
	password, ok := passwords[user]
	if !ok {
		return nil, "", fmt.Errorf("no user %q", user)
	}
	if r["response"] != x.proof("AUTHENTICATE", r, password) {
		return nil, "", fmt.Errorf("wrong response of user %q", user)
	}
	return []byte("rspauth=" + x.proof("", r, password)), user, nil
}

// check checks all directives of a response but the user and the proof.
func (x *Exchange) check(r directives) error {
	if charset, ok := r["charset"]; ok && charset != "utf-8" {
		return fmt.Errorf("charset %q; expected utf-8", charset)
	}
	if _, err := r.number("maxbuf", 10); err != nil {
		return err
	}
	for _, name := range []string{"username", "realm", "nonce", "cnonce"} {
		if _, ok := r[name]; !ok {
			return fmt.Errorf("no directive %s", name)
		}
	}
	if r["realm"] != x.realm {
		return fmt.Errorf("realm %q; expected %q", r["realm"], x.realm)
	}
	if r["nonce"] != x.nonce {
		return fmt.Errorf("nonce %q; expected %q", r["nonce"], x.nonce)
	}
	if count, err := r.number("nonce-count", 16); err != nil {
		return err
	} else if count != 1 {
		return fmt.Errorf("nonce-count %d; expected 1", count)
	}
	if qop, ok := r["qop"]; ok && qop != "auth" {
		return fmt.Errorf("qop %q; expected auth", qop)
	}
	if !strings.EqualFold(r["digest-uri"], x.uri) {
		return fmt.Errorf("digest-uri %q; expected %q", r["digest-uri"], x.uri)
	}
	return nil
}

// number is an optional directive that is a number of 32 bits; its default is 1.
func (r directives) number(name string, base int) (int64, error) {
	text, ok := r[name]
	if !ok {
		return 1, nil
	}
	n, err := strconv.ParseInt(text, base, 32)
	if err != nil {
		return 0, fmt.Errorf("%s: %w %q", name, ErrNumber, text)
	}
	return n, nil
}

// proof is the response-value of RFC 2831, section 2.1.2.1. Its method is "AUTHENTICATE" for the
// proof of the client, and empty for that of the server.
func (x *Exchange) proof(method string, r directives, password string) string {
	secret := md5.Sum([]byte(
		latin1(r["username"]) + ":" + latin1(x.realm) + ":" + latin1(password)))
	a1 := string(secret[:]) + ":" + x.nonce + ":" + r["cnonce"]
	if authzid, ok := r["authzid"]; ok {
		a1 += ":" + authzid
	}
	a2 := method + ":" + r["digest-uri"]
	const nonceCount, qop = "00000001", "auth"
	return hash(strings.Join(
		[]string{hash(a1), x.nonce, nonceCount, r["cnonce"], qop, hash(a2)}, ":"))
}

func hash(text string) string {
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// latin1 returns a text in ISO 8859-1 if it can be written so, else as it is, in UTF-8.
func latin1(text string) string {
	var b []byte
	for _, r := range text {
		if r > 0xff {
			return text
		}
		b = append(b, byte(r))
	}
	return string(b)
}
