package digestmd5

import (
	"errors"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

// example is the exchange of RFC 2831, section 4, with the nonce as Java would send it.
func example() *Exchange {
	return NewExchange("elwood.innosoft.com", "imap/elwood.innosoft.com", "OA6MG9tEQGm2hh")
}

var chris = map[string]string{"chris": "secret"}

const (
	exampleToken = `charset=utf-8,username="chris",realm="elwood.innosoft.com",` +
		`nonce="OA6MG9tEQGm2hh",nc=00000001,cnonce="OA6MHXh6VqTrRk",` +
		`digest-uri="imap/elwood.innosoft.com",` +
		`response=d388dad90d4bbd760a152321f2143af7,qop=auth`
	exampleProof = "rspauth=ea40f60335c427b5527b84dbabcdfffd"
)

func TestExampleOfTheStandard(t *testing.T) {
	x := example()
	if _, user, err := x.Answer(nil, chris); user != "" || err != nil {
		t.Fatalf("challenge: %q, %v", user, err)
	}
	proof, user, err := x.Answer([]byte(exampleToken), chris)
	if string(proof) != exampleProof || user != "chris" || err != nil {
		t.Errorf("got %q, %q, %v", proof, user, err)
	}
	if answer, user, err := x.Answer([]byte(exampleToken), chris); err == nil {
		t.Errorf("third token: got %q, %q", answer, user)
	}
}

func TestRefusalsSayWhy(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{"chris", "carl", `no user "carl"`},
		{"=d388", "=d389", `wrong response of user "chris"`},
		{"utf-8", "latin1", `charset "latin1"; expected utf-8`},
		{"qop=auth", "qop=auth-int", `qop "auth-int"; expected auth`},
		{"qop=auth", "maxbuf=9999999999", `maxbuf: malformed number "9999999999"`},
		{"nc=", "nonce-count=g", `nonce-count: malformed number "g00000001"`},
		{"nc=0", "nonce-count=1", `nonce-count 268435457; expected 1`},
		{`cnonce="`, `x="`, "no directive cnonce"},
		{"realm=", "x=", "no directive realm"},
		{`"elwood`, `"oakwood`, `realm "oakwood.innosoft.com"; expected "elwood.innosoft.com"`},
		{`"OA6MG9`, `"`, `nonce "tEQGm2hh"; expected "OA6MG9tEQGm2hh"`},
		{"imap/", "pop/", `digest-uri "pop/elwood.innosoft.com"; expected "imap/elwood`},
		{"nc=", "QOP=", "two directives qop"},
		{"qop=auth", `x="y`, "a quoted value without an end"},
		{"qop=auth", `x="y\`, "a quoted value without an end"},
		{"qop=auth", `x="y"z`, `"z" behind a quoted value; expected a comma`},
		{"qop=auth", "x= ", "directive x has no value"},
		{"charset=", "charset utf-8=", `expected name=value`},
		{"charset=", "=", `expected name=value`},
		{"charset", strings.Repeat("c", longestToken), "a token of"},
	} {
		x := example()
		if _, _, err := x.Answer(nil, chris); err != nil {
			t.Fatal(err)
		}
		token := strings.Replace(exampleToken, test.old, test.new, 1)
		_, user, err := x.Answer([]byte(token), chris)
		if err == nil || user != "" || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s instead of %s: user %q, error %v; want %q", test.new, test.old, user, err,
				test.want)
		}
		check.Equal(t, strings.Contains(test.want, "malformed number"), errors.Is(err, ErrNumber),
			"%v: ErrNumber is wrong", err)
	}
}

// Nothing but the right proof, which the fuzzer does not find, makes a client the user.
func FuzzAnswer(f *testing.F) {
	for _, token := range []string{
		"", exampleToken, `username = "a\"b" ,, x=`, `realm="`, "a=b c", "=", "maxbuf=99999999999",
	} {
		f.Add(token)
	}
	f.Fuzz(func(t *testing.T, token string) {
		x := example()
		if _, _, err := x.Answer(nil, chris); err != nil {
			t.Fatal(err)
		}
		_, user, err := x.Answer([]byte(token), chris)
		check.Equal(t, user == "", err != nil, "user %q, error %v", user, err)
		if user != "" && !strings.Contains(token, "d388dad90d4bbd760a152321f2143af7") &&
			!strings.Contains(token, `\`) {
			t.Errorf("%q makes the client %q", token, user)
		}
	})
}
