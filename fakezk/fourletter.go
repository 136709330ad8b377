package fakezk

import (
	"net"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/fourletter"
)

// wordState is the state of the server that only the four-letter words need.
type wordState struct {
	started   time.Time
	packets   engine.Stats // of words; the engine counts frames
	traffic   fourletter.Traffic
	traceMask int64
	ports     [MaxServers]int // that the servers listen on first
}

// count is called with every reaction of the engine.
func (w *wordState) count(frameBytes int, r engine.Reaction) { w.traffic.Count(frameBytes, &r) }

// checkWord looks at the first four bytes of a connection. If they are a four-letter word, it
// answers the word, closes the connection and returns true. Anything else is the length of a frame.
// Bytes after a word are ignored, except the eight bytes of stmk, which count only if they arrived
// with it: the real server does not wait for them either.
//
// Source: NIOServerCnxn.readLength, checkFourLetterWord.
func (s *Server) checkWord(l *link, p []byte) bool {
	if len(l.frames.Partial()) > 0 {
		p = slices.Concat(l.frames.Partial(), p[:min(len(p), 12)])
	}
	if len(p) < 4 {
		return false
	}
	l.wordChecked = true
	word := string(p[:4])
	if !fourletter.Known(word) {
		return false
	}
	p = p[:min(len(p), 12)]
	if s.inject != nil {
		s.inject.takeWord(l, p)
	} else {
		s.answerWord(l, p)
	}
	return true
}

// answerWord answers a word, which an argument may follow, and closes the connection.
func (s *Server) answerWord(l *link, p []byte) {
	var argument []byte
	word := string(p[:4])
	if word == "stmk" {
		argument = p[4:]
	}
	answer := []byte(s.runWord(l, word, argument))
	s.emit(l, engine.Output{Conn: l.id, Frame: answer, Close: true}, nil)
	s.engine.Drop(l.id)
}

// runWord carries out a word, if Options.FourLetterWords permits it.
func (s *Server) runWord(l *link, word string, argument []byte) string {
	s.words.packets.Received++
	text := fourletter.Refusal(word)
	if slices.Contains(s.opts.FourLetterWords, word) ||
		slices.Contains(s.opts.FourLetterWords, "*") {
		text = fourletter.Answer(word, argument, s.wordServer(l))
		s.applyWord(word, argument)
	}
	s.words.packets.Sent += fourletter.Packets(text)
	return text
}

func (s *Server) applyWord(word string, argument []byte) {
	switch word {
	case "srst":
		s.words.packets = engine.Stats{}
		s.words.traffic.Reset()
	case "stmk":
		if mask, ok := fourletter.TraceMask(argument); ok {
			s.words.traceMask = mask
		}
	}
}

// wordServer is the server as answers to words on l show it: that of Debian 12 in its default
// directories. Its host is an invented one, so that answers are the same everywhere.
func (s *Server) wordServer(l *link) fourletter.Server {
	return fourletter.Server{
		Engine:    s.engine,
		Number:    l.server,
		Now:       time.Now(),
		Started:   s.words.started,
		Addr:      s.addressOf,
		Asker:     l.address(),
		Words:     s.words.packets,
		Traffic:   s.words.traffic,
		TraceMask: s.words.traceMask,
		Settings: fourletter.Settings{
			ClientPort:        s.words.ports[l.server],
			DataDir:           "/var/lib/zookeeper",
			TickTime:          s.opts.TickTime,
			MinSessionTimeout: s.opts.MinSessionTimeout,
			MaxSessionTimeout: s.opts.MaxSessionTimeout,
			MaxClientConns:    max(s.opts.MaxClientConns, 0),
		},
		Env: fourletter.Environment("zookeeper", "6.1.0-28-amd64", "zookeeper",
			"/var/lib/zookeeper", "/"),
	}
}

// addressOf is the address of a connection's client, "" if there is none.
func (s *Server) addressOf(id engine.ConnID) string {
	if l := s.links[id]; l != nil {
		return l.address()
	}
	return ""
}

// notePort remembers the port of a listener for conf.
func (s *Server) notePort(server int, l net.Listener) {
	if at, ok := l.Addr().(*net.TCPAddr); ok && s.words.ports[server] == 0 {
		s.words.ports[server] = at.Port
	}
}
