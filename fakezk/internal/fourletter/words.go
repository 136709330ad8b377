package fourletter

import (
	"encoding/binary"
	"strconv"

	"github.com/zksim/zksim/fakezk/internal/state"
)

// Version is the version that ZooKeeper of Debian 12 (3.8.0-11+deb12u2) shows. The part
// in braces is a variable that the build of the package did not replace; clients read the
// digits before the first dash.
const Version = "3.8.0-${mvngit.commit.id}, built on 2024-12-29 17:54 UTC"

// notServing is the answer to most words while the server serves no requests.
//
// Source: AbstractFourLetterCommand.ZK_NOT_SERVING.
const notServing = "This ZooKeeper instance is not currently serving requests"

// telnetClose is sent by an interrupted telnet. The real server treats it as a word
// without an answer, so that it logs no error.
const telnetClose = "\xff\xf4\xff\xfd"

// DefaultTraceMask is the trace mask of a server before the first stmk.
const DefaultTraceMask = 306

// A text is the answer to a word. It uses nothing of the server.
type text func() string

// answers has the words that only a serving server answers. Take handles those that a
// stopped server answers, too.
var answers = map[string]func(*Server) text{
	"cons": cons,
	"conf": short(conf),
	"crst": short(crst),
	"dirs": short(dirs),
	"dump": dump,
	"hash": short(hash),
	"isro": short(func(*Server) string { return "rw" }),
	"mntr": mntr,
	"srst": short(srst),
	"srvr": short(srvr),
	"stat": stat,
	"wchc": wchc,
	"wchp": wchp,
	"wchs": wchs,
}

// short is for an answer that is made at once.
func short(answer func(*Server) string) func(*Server) text {
	return func(s *Server) text {
		made := answer(s)
		return func() string { return made }
	}
}

// Known reports whether the first four bytes of a connection are a word rather
// than the length of a frame.
func Known(word string) bool {
	switch word {
	case "ruok", "gtmk", "stmk", "envi", telnetClose:
		return true
	}
	return answers[word] != nil
}

// Long reports whether the answer to a word may have millions of lines.
func Long(word string) bool {
	switch word {
	case "dump", "wchc", "wchp", "wchs":
		return true
	}
	return false
}

// Take collects what the answer to a known word shows, which must be in the whitelist. The function
// that it returns makes the answer of it, and does not use the server. argument is the eight bytes
// after stmk, nil for all other words. The answer is empty for stmk without its eight bytes, the
// interrupt of telnet, and hash before the 128th transaction.
func Take(word string, argument []byte, s *Server) func() string {
	return take(word, argument, s)(s)
}

func take(word string, argument []byte, s *Server) func(*Server) text {
	switch word {
	case "ruok":
		return short(func(*Server) string { return "imok" })
	case "envi":
		return short(envi)
	case "gtmk":
		return short(func(*Server) string { return strconv.FormatInt(s.TraceMask, 10) })
	case "stmk":
		return short(func(*Server) string { return setTraceMask(argument) })
	}
	answer := answers[word]
	switch {
	case answer == nil:
		return short(func(*Server) string { return "" })
	case s.Stopped:
		return short(func(*Server) string { return answerStopped(word) })
	}
	return answer
}

// answerStopped returns the answer of a stopped server. Only some of the real server's
// commands end the line.
func answerStopped(word string) string {
	switch word {
	case "isro":
		return "null"
	case "hash":
		return notServing
	}
	return notServing + "\n"
}

// Refusal returns the answer to a known word that is not in the whitelist.
func Refusal(word string) string {
	if word == telnetClose {
		word = "telnet close"
	}
	return word + " is not executed because it is not in the whitelist.\n"
}

// Packets returns the number of packets that a server counts for a text: one for each
// 8192 characters or part of them.
//
// Source: NIOServerCnxn.SendBufferWriter behind a BufferedWriter.
func Packets(text string) int64 {
	return int64((state.JavaLength(text) + 8191) / 8192)
}

// TraceMask returns the mask in the argument of stmk. ok is false if the argument is
// shorter than eight bytes; stmk then changes nothing.
func TraceMask(argument []byte) (mask int64, ok bool) {
	if len(argument) < 8 {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(argument)), true
}

func setTraceMask(argument []byte) string {
	mask, ok := TraceMask(argument)
	if !ok {
		return ""
	}
	return strconv.FormatInt(mask, 10)
}

func crst(s *Server) string {
	s.Engine.ResetConnStats()
	return "Connection stats reset.\n"
}

func srst(s *Server) string {
	s.Engine.ResetStats()
	return "Server stats reset.\n"
}
