package fakezk

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/realzk"
	"github.com/zksim/zksim/internal/testrun"
)

// saslUsers are the users of both servers.
var saslUsers = map[string]string{
	"ann": "pw", "bob": "", "super": "s", "Jürgen": "grün", "jose": "кот",
}

// jaasFile writes the JAAS file of a real server with saslUsers.
func jaasFile(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("Server {\n  org.apache.zookeeper.server.auth.DigestLoginModule required\n")
	for name, password := range saslUsers {
		fmt.Fprintf(&b, "  user_%s=%q\n", name, password)
	}
	b.WriteString("  ;\n};\n")
	file := filepath.Join(t.TempDir(), "jaas.conf")
	check.OK(t, os.WriteFile(file, []byte(b.String()), 0o600))
	return file
}

// A saslExchange is the tokens that a client sends. In a token $N stands for the nonce of the last
// challenge, $U for the digest-uri, and $R for the response of the user with the password. $A, $Z,
// $M, $C and $D are the directives for the user, the realm, the nonce, the cnonce and the
// digest-uri, and $P is all five. The digest covers extra behind the cnonce.
type saslExchange struct {
	name, user, password string
	tokens               []string
	extra                string
}

const (
	saslChallenge = `realm="zk-sasl-md5",nonce="N",charset=utf-8,algorithm=md5-sess`
	saslURI       = "zookeeper/zk-sasl-md5"
	saslGood      = "$P,response=$R"
)

// The unknown user comes first: once ann has been authenticated, the real server takes her password
// as that of every unknown user (SaslServerCallbackHandler keeps the last name that it knew).
var saslExchanges = []saslExchange{
	{"unknown user", "eve", "pw", []string{"", saslGood}, ""},
	{"right password", "ann", "pw", []string{"", saslGood}, ""},
	{"empty password", "bob", "", []string{"", saslGood}, ""},
	{"name and password in Latin-1", "J\xfcrgen", "gr\xfcn", []string{"", saslGood}, ""},
	{"password in UTF-8", "jose", "кот", []string{"", saslGood}, ""},
	{"kazoo's form", "ann", "pw", []string{"", "$P,nc=00000001,qop=auth,charset=utf-8,maxbuf=65536,response=$R"}, ""},
	{"authzid", "ann", "pw", []string{"", `$P,authzid="bob",response=$R`}, ":bob"},
	{"unused directives", "ann", "pw", []string{"", "$P,x=1,x=2,nc=7,cipher=rc4,response=$R"}, ""},
	{"nonce-count of text", "ann", "pw", []string{"", "$P,nonce-count=x,response=$R"}, ""},
	{"nonce-count of 2", "ann", "pw", []string{"", "$P,nonce-count=2,response=$R"}, ""},
	{"nonce-count of 1", "ann", "pw", []string{"", "$P,nonce-count=01,response=$R"}, ""},
	{"white space", "ann", "pw", []string{"", " ,\t$P\r\n response \t= \t$R ,, "}, ""},
	{"wrong password", "ann", "no", []string{"", saslGood}, ""},
	{"first token not empty", "ann", "pw", []string{"x", saslGood}, ""},
	{"second token empty", "ann", "pw", []string{"", ""}, ""},
	{"after the end", "ann", "pw", []string{"", saslGood, ""}, ""},
	{"twice", "ann", "pw", []string{"", saslGood, saslGood}, ""},
	{"too long", "ann", "pw", []string{"", saslGood + strings.Repeat(" ", 4096)}, ""},
	{"qop auth-int", "ann", "pw", []string{"", "$P,qop=auth-int,response=$R"}, ""},
	{"unknown qop", "ann", "pw", []string{"", "$P,qop=x,response=$R"}, ""},
	{"other charset", "ann", "pw", []string{"", "$P,charset=latin1,response=$R"}, ""},
	{"maxbuf of text", "ann", "pw", []string{"", "$P,maxbuf=x,response=$R"}, ""},
	{"no response", "ann", "pw", []string{"", "$P"}, ""},
	{"no cnonce", "ann", "pw", []string{"", `$A,$Z,$M,$D,response=$R`}, ""},
	{"no nonce", "ann", "pw", []string{"", `$A,$Z,$C,$D,response=$R`}, ""},
	{"wrong nonce", "ann", "pw", []string{"", `$A,$Z,nonce="n",$C,$D,response=$R`}, ""},
	{"no realm", "ann", "pw", []string{"", `$A,$M,$C,$D,response=$R`}, ""},
	{"no user", "ann", "pw", []string{"", `$Z,$M,$C,$D,response=$R`}, ""},
	{"no digest-uri", "ann", "pw", []string{"", `$A,$Z,$M,$C,response=$R`}, ""},
	{"other digest-uri", "ann", "pw", []string{"", `$A,$Z,$M,$C,digest-uri=a/b,response=$R`}, ""},
	{"no quotes", "ann", "pw", []string{"", `USERNAME=ann,$Z,nonce=$N,$C,$D,response=$R`}, ""},
	{"quotes", "ann", "pw", []string{"", `$A,$Z,$M,cnonce="\c",$D,response="$R"`}, ""},
	{"directive twice", "ann", "pw", []string{"", saslGood + ",response=$R"}, ""},
	{"open quote", "ann", "pw", []string{"", saslGood + `,x="`}, ""},
	{"text behind a quote", "ann", "pw", []string{"", saslGood + `,x="y"z`}, ""},
	{"no value", "ann", "pw", []string{"", saslGood + `,x=`}, ""},
	{"last name without value", "ann", "pw", []string{"", saslGood + `,x`}, ""},
	{"name without value", "ann", "pw", []string{"", `x,` + saslGood}, ""},
	{"no name", "ann", "pw", []string{"", `=x,` + saslGood}, ""},
	{"two words", "ann", "pw", []string{"", `x y=1,` + saslGood}, ""},
	{"empty value", "ann", "pw", []string{"", `x=,` + saslGood}, ""},
}

// saslClient is a raw client that knows the nonce of the last challenge.
type saslClient struct {
	*rawClient
	nonce  string
	proof  string // that the server knows the password, of the last token
	closed bool
}

func dialSASL(t *testing.T, dial func() (net.Conn, error)) *saslClient {
	t.Helper()
	conn, err := dial()
	check.OK(t, err)
	t.Cleanup(func() { _ = conn.Close() }) // it may be closed already
	r := &rawClient{Conn: conn, t: t}
	r.handshake(proto.ConnectRequest{TimeoutMs: 4000})
	return &saslClient{rawClient: r}
}

var nonceDirective = regexp.MustCompile(`nonce="([^"]*)"`)

// ask sends a request and describes the reply.
func (c *saslClient) ask(req proto.Request) string {
	if c.closed {
		return "closed"
	}
	c.xid++
	c.send(wire.AppendRequest(nil, c.xid, req))
	payload := c.receive()
	if payload == nil {
		c.closed = true
		return "closed"
	}
	h, body, err := wire.DecodeReplyHeader(payload)
	check.OK(c.t, err)
	if m := nonceDirective.FindSubmatch(body); m != nil {
		c.nonce = string(m[1])
		body = bytes.ReplaceAll(body[4:], m[1], []byte("N")) // without its length
		if string(body) == saslChallenge {
			return "challenge"
		}
	}
	if h.Err == proto.AuthFailed {
		c.wantClosed()
		c.closed = true
	}
	switch req.(type) {
	case *proto.Sasl:
		if h.Xid != c.xid || h.Zxid != 0 {
			c.t.Errorf("reply %+v to request %d", h, c.xid)
		}
		body = bytes.Replace(body, []byte(c.proof), []byte("proof"), 1)
		return fmt.Sprintf("%s %q", h.Err, body)
	case *proto.Simple:
		return fmt.Sprintf("%q", body)
	}
	return fmt.Sprint(h.Err)
}

// token fills in a token's placeholders.
func (c *saslClient) token(x saslExchange, template string) []byte {
	hash := func(s string) string {
		sum := md5.Sum([]byte(s))
		return hex.EncodeToString(sum[:])
	}
	secret := md5.Sum([]byte(x.user + ":zk-sasl-md5:" + x.password))
	a1 := string(secret[:]) + ":" + c.nonce + ":c" + x.extra
	response := func(method string) string {
		return hash(hash(a1) + ":" + c.nonce + ":00000001:c:auth:" + hash(method+":"+saslURI))
	}
	c.proof = response("")
	template = strings.ReplaceAll(template, "$P", "$A,$Z,$M,$C,$D")
	return []byte(strings.NewReplacer(
		"$A", `username="`+strings.ReplaceAll(x.user, "\xfc", "ü")+`"`,
		"$Z", `realm="zk-sasl-md5"`,
		"$M", `nonce="`+c.nonce+`"`, "$C", `cnonce="c"`, "$D", `digest-uri="`+saslURI+`"`,
		"$N", c.nonce, "$U", saslURI, "$R", response("AUTHENTICATE"),
	).Replace(template))
}

// authenticate sends the tokens and describes the answers.
func (c *saslClient) authenticate(x saslExchange) (answers []string) {
	for _, template := range x.tokens {
		answers = append(answers, c.ask(&proto.Sasl{Token: c.token(x, template)}))
	}
	return answers
}

// saslTranscript has a line for each exchange and each ACL: what a server answers.
func saslTranscript(t *testing.T, dial func() (net.Conn, error)) []string {
	var transcript []string
	for _, x := range saslExchanges {
		c := dialSASL(t, dial)
		answers := append(c.authenticate(x), c.ask(&proto.Simple{Code: proto.OpWhoAmI}))
		transcript = append(transcript, x.name+": "+strings.Join(answers, "; "))
	}
	return append(transcript, saslACLs(t, dial)...)
}

// saslACLs creates nodes as ann, and reads them as a guest, as ann and as super.
func saslACLs(t *testing.T, dial func() (net.Conn, error)) (transcript []string) {
	guest, ann, super := dialSASL(t, dial), dialSASL(t, dial), dialSASL(t, dial)
	ann.authenticate(saslExchange{user: "ann", password: "pw", tokens: []string{"", saslGood}})
	super.authenticate(saslExchange{user: "super", password: "s", tokens: []string{"", saslGood}})
	for i, entry := range []proto.ACL{
		{Perms: 31, Scheme: "sasl", ID: "ann"}, {Perms: 31, Scheme: "sasl", ID: ""},
		{Perms: 31, Scheme: "sasl", ID: "bob"}, {Perms: 31, Scheme: "sasl", ID: "a/h@R"},
		{Perms: 31, Scheme: "sasl", ID: "a/b/c"}, {Perms: 31, Scheme: "sasl", ID: "a@b@c"},
		{Perms: 31, Scheme: "sasl", ID: "a/b/c@d"}, {Perms: 31, Scheme: "sasl", ID: "a@b/c"},
		{Perms: 31, Scheme: "sasl", ID: "@"}, {Perms: 31, Scheme: "sasl", ID: proto.Null},
		{Perms: 31, Scheme: "auth", ID: ""},
	} {
		path := fmt.Sprintf("/n%d", i)
		answers := []string{ann.ask(&proto.Create{
			Code: proto.OpCreate, Path: path, Data: []byte{}, ACL: []proto.ACL{entry},
		})}
		for _, c := range []*saslClient{guest, ann, super} {
			answers = append(answers, c.ask(&proto.GetData{Path: path}))
		}
		transcript = append(transcript, fmt.Sprintf("%s %s: %q", entry.Scheme, entry.ID, answers))
	}
	return append(transcript,
		"auth sasl: "+guest.ask(&proto.Auth{Scheme: "sasl", Data: []byte("ann")}))
}

// testdata/sasl.txt is what a real server answers.
const saslAnswers = "testdata/sasl.txt"

func TestSASLAnswersLikeARealServer(t *testing.T) {
	s := New(Options{SASLUsers: saslUsers})
	t.Cleanup(func() { mustDo(t, s.Close()) })
	check.Equal(t, strings.Join(saslTranscript(t, s.dial), "\n"), testrun.ReadFile(t, saslAnswers))
}

func TestRecordedSASLAnswersAreARealServers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real server")
	}
	real := realzk.Start(t, realzk.Options{Properties: map[string]string{
		"java.security.auth.login.config": jaasFile(t),
		"zookeeper.authProvider.1": "org.apache.zookeeper.server.auth." +
			"SASLAuthenticationProvider",
	}})
	got := saslTranscript(t, func() (net.Conn, error) { return net.Dial("tcp", real.Address()) })
	testrun.Golden(t, saslAnswers, strings.Join(got, "\n"))
}
