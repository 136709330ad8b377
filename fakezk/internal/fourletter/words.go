package fourletter

import (
	"encoding/binary"
	"strconv"
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

// answers has the words that only a serving server answers. Answer handles those that a
// stopped server answers, too.
var answers = map[string]func(Server) string{
	"cons": cons,
	"conf": conf,
	"crst": crst,
	"dirs": dirs,
	"dump": dump,
	"hash": hash,
	"isro": func(Server) string { return "rw" },
	"mntr": mntr,
	"srst": srst,
	"srvr": srvr,
	"stat": stat,
	"wchc": wchc,
	"wchp": wchp,
	"wchs": wchs,
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

// Answer returns the answer to a known word that is in the whitelist. argument is the
// eight bytes after stmk, nil for all other words. The answer is empty for stmk without
// its eight bytes, the interrupt of telnet, and hash before the 128th transaction.
func Answer(word string, argument []byte, s Server) string {
	switch word {
	case "ruok":
		return "imok"
	case "envi":
		return envi(s)
	case "gtmk":
		return strconv.FormatInt(s.TraceMask, 10)
	case "stmk":
		return setTraceMask(argument)
	}
	answer := answers[word]
	switch {
	case answer == nil:
		return ""
	case s.Stopped:
		return answerStopped(word)
	}
	return answer(s)
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
	return int64((javaLength(text) + 8191) / 8192)
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

func crst(s Server) string {
	s.Engine.ResetConnStats()
	return "Connection stats reset.\n"
}

func srst(s Server) string {
	s.Engine.ResetStats()
	return "Server stats reset.\n"
}
