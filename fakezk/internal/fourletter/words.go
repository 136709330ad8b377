package fourletter

import (
	"encoding/binary"
	"strconv"
)

// Version is what ZooKeeper of Debian 12 (3.8.0-11+deb12u2) says of itself. The
// part in braces is a variable that was never replaced when the package was
// built; clients take the digits in front of the first dash.
const Version = "3.8.0-${mvngit.commit.id}, built on 2024-12-29 17:54 UTC"

// notServing is what most words get while the server runs no database.
//
// Source: AbstractFourLetterCommand.ZK_NOT_SERVING.
const notServing = "This ZooKeeper instance is not currently serving requests"

// telnetClose is what telnet sends when it is interrupted. The real server
// counts it among the words so that its log stays clean, and has no answer.
const telnetClose = "\xff\xf4\xff\xfd"

// DefaultTraceMask is the trace mask of a server that nobody has set another
// for.
const DefaultTraceMask = 306

// words holds what is said while the server is serving. The words that a
// stopped server answers too have no place here.
var words = map[string]func(Server) string{
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
	return words[word] != nil
}

// Answer is what a server says to a known word that its whitelist holds.
// argument is what follows the word: the eight bytes of stmk, nil for all
// others. "" is also an answer: stmk without its eight bytes, the interrupt of
// telnet, and hash before the 128th transaction get no byte.
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
	answer := words[word]
	switch {
	case answer == nil:
		return ""
	case s.Stopped:
		return answerStopped(word)
	}
	return answer(s)
}

// answerStopped differs from word to word because the real server's commands
// differ in whether they end the line.
func answerStopped(word string) string {
	switch word {
	case "isro":
		return "null"
	case "hash":
		return notServing
	}
	return notServing + "\n"
}

// Refusal is what a server says to a known word that its whitelist lacks.
func Refusal(word string) string {
	if word == telnetClose {
		word = "telnet close"
	}
	return word + " is not executed because it is not in the whitelist.\n"
}

// Packets is how many packets a server counts as sent for a text: one for each
// 8192 characters begun.
//
// Source: NIOServerCnxn.SendBufferWriter behind a BufferedWriter.
func Packets(text string) int64 {
	return int64((javaLength(text) + 8191) / 8192)
}

// TraceMask reads the mask that stmk is to set. ok is false if argument is
// shorter than eight bytes; the mask then stays as it is.
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
