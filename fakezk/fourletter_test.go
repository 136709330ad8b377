package fakezk

import (
	"encoding/binary"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/internal/check"
)

// ask sends the first bytes of a connection and returns all that comes.
func ask(t *testing.T, address, bytes string) string {
	t.Helper()
	r := dialTCP(t, address)
	r.send([]byte(bytes))
	return readAll(t, r)
}

func readAll(t *testing.T, r *rawClient) string {
	t.Helper()
	answer, err := io.ReadAll(r)
	check.OK(t, err)
	return string(answer)
}

func TestFourLetterWords(t *testing.T) {
	_, address := startTCP(t)
	mask := string(binary.BigEndian.AppendUint64(nil, 18))
	for _, test := range []struct{ name, sent, want string }{
		{"ruok", "ruok", "imok"},
		{"a trailing newline does not hurt", "ruok\n", "imok"},
		{"nor does anything else", "ruok" + strings.Repeat("x", 10_000), "imok"},
		{"isro", "isro", "rw"},
		{"gtmk", "gtmk", "306"},
		{"stmk", "stmk" + mask, "18"},
		{"gtmk after stmk", "gtmk", "18"},
		{"stmk without a mask", "stmk", ""},
		{"crst", "crst", "Connection stats reset.\n"},
		{"srst", "srst", "Server stats reset.\n"},
		{"telnet's interrupt", "\xff\xf4\xff\xfd\x06", ""},
		{"unknown words are lengths", "abcd", ""},
		{"case counts", "RUOK", ""},
	} {
		check.Equal(t, ask(t, address, test.sent), test.want, "%s", test.name)
	}
}

func TestWordInPiecesAndFromAHalfClosedClient(t *testing.T) {
	_, address := startTCP(t)
	r := dialTCP(t, address)
	for _, b := range []byte("ruok") {
		r.send([]byte{b})
	}
	r.closeWrite()
	check.Equal(t, readAll(t, r), "imok")
}

// TestWordOfAHalfClosedClientUnderFaults is answered before the end of the client is noticed.
func TestWordOfAHalfClosedClientUnderFaults(t *testing.T) {
	s, address := startTCP(t)
	mustDo(t, s.Inject(fault.Fault{Kind: fault.Stall, For: time.Second, At: time.Hour}))
	for range 20 {
		r := dialTCP(t, address)
		r.send([]byte("ruok"))
		r.closeWrite()
		check.Equal(t, readAll(t, r), "imok")
	}
	s.ClearFaults()
}

// A word is one only where a connection begins.
func TestWordAfterTheHandshakeIsALength(t *testing.T) {
	_, address := startTCP(t)
	r, _ := tcpSession(t, address)
	r.send([]byte("ruok"))
	r.wantClosed()
}

func TestWordsInMemoryAreAnsweredToo(t *testing.T) {
	r := rawDial(t, Start(t))
	r.send([]byte("ruok"))
	check.Equal(t, readAll(t, r), "imok")
}

func TestFourLetterWordsOption(t *testing.T) {
	const refused = " is not executed because it is not in the whitelist.\n"
	for _, test := range []struct {
		name       string
		words      []string
		ruok, isro string
	}{
		{"nil is all", nil, "imok", "rw"},
		{"a star is all", []string{"*"}, "imok", "rw"},
		{"empty is none", []string{}, "ruok" + refused, "isro" + refused},
		{"one", []string{"isro"}, "ruok" + refused, "rw"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, address := startTCP(t, Options{FourLetterWords: test.words})
			if ruok, isro := ask(t, address, "ruok"), ask(t, address, "isro"); ruok != test.ruok ||
				isro != test.isro {
				t.Errorf("ruok %q, isro %q", ruok, isro)
			}
		})
	}
}

// Words are packets too, and the connection that asks counts itself.
func TestWordsCountPacketsAndConnections(t *testing.T) {
	s, address := startTCP(t)
	figures := func() string {
		t.Helper()
		var got []string
		for _, m := range regexp.MustCompile(`(?m)^(Received|Sent|Connections|Node count): (\d+)$`).
			FindAllStringSubmatch(ask(t, address, "srvr"), -1) {
			got = append(got, m[2])
		}
		return strings.Join(got, " ")
	}
	for _, want := range []string{"1 0 1 5", "2 1 1 5"} {
		check.Equal(t, figures(), want, "received, sent, connections, nodes")
	}
	tcpSession(t, address)
	rawSession(t, s, 0)
	check.Equal(t, figures(), "5 4 3 5", "after two handshakes")
	ask(t, address, "srst")
	check.Equal(t, figures(), "1 1 3 5", "after srst")
}

func TestConsAndConfShowAddressesOfThisServer(t *testing.T) {
	s, address := startTCP(t, Options{MaxClientConns: 7})
	r, session := tcpSession(t, address)
	rawSession(t, s, 0)
	cons := ask(t, address, "cons")
	if !strings.Contains(cons, " /"+r.LocalAddr().String()+"[1](queued=0,recved=1,sent=1,sid=0x") ||
		strings.Count(cons, "\n") != 4 {
		t.Errorf("cons:\n%s", cons)
	}
	_, port, _ := strings.Cut(address, ":")
	conf := ask(t, address, "conf")
	for _, want := range []string{"clientPort=" + port, "tickTime=2000", "maxClientCnxns=7",
		"maxSessionTimeout=40000"} {
		check.Contains(t, conf, want+"\n", "conf")
	}
	r.mustCall(ping)
	if session.SessionID == 0 {
		t.Error("no session")
	}
}
