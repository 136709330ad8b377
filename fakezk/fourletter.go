package fakezk

import (
	"net"
	"slices"
	"sync"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/fourletter"
)

// words answers the four-letter words.
type words struct {
	opts      Options
	engine    *engine.Engine
	links     *links
	started   time.Time
	packets   engine.Stats // of words; the engine counts frames
	traffic   fourletter.Traffic
	traceMask int64
	ports     [MaxServers]int // that the servers listen on first
	turns     *turns
	texts     sync.Mutex // one long text is made at a time
}

func newWords(opts Options, now time.Time, k *links, t *turns) *words {
	return &words{
		opts: opts, links: k, started: now, traceMask: fourletter.DefaultTraceMask, turns: t,
	}
}

// count is called with every reaction of the engine.
func (w *words) count(frameBytes int, r engine.Reaction) { w.traffic.Count(frameBytes, &r) }

// notePort remembers the port of a listener for conf.
func (w *words) notePort(server int, l net.Listener) {
	if at, ok := l.Addr().(*net.TCPAddr); ok && w.ports[server] == 0 {
		w.ports[server] = at.Port
	}
}

// firstWord is the four-letter word with which a connection begins, and what follows it. Bytes
// after a word are ignored, except the eight bytes of stmk, which count only if they arrived with
// it: the real server does not wait for them either.
func (l *link) firstWord(p []byte) (word []byte, known bool) {
	if len(l.frames.Partial()) > 0 {
		p = slices.Concat(l.frames.Partial(), p[:min(len(p), 12)])
	}
	if len(p) < 4 {
		return nil, false
	}
	l.wordChecked = true
	return p[:min(len(p), 12)], fourletter.Known(string(p[:4]))
}

// answer carries out a word, if Options.FourLetterWords permits it. It must be called without the
// lock.
func (w *words) answer(l *link, word []byte) []byte {
	if fourletter.Long(string(word[:4])) {
		w.texts.Lock()
		defer w.texts.Unlock()
	}
	text := []byte(w.collect(l, word)())
	w.turns.mu.Lock()
	defer w.turns.mu.Unlock()
	w.packets.Sent += fourletter.Packets(string(text))
	return text
}

// answerNow is answer with the lock held, for a word that faults have let through: what a client
// sends after it may come at once.
func (w *words) answerNow(l *link, word []byte) []byte {
	text := w.take(l, word, nil)()
	w.packets.Sent += fourletter.Packets(text)
	return []byte(text)
}

// collect takes the lock for what the answer needs.
func (w *words) collect(l *link, word []byte) func() string {
	if fourletter.Long(string(word[:4])) {
		w.turns.begin()
		defer w.turns.end()
		return w.take(l, word, w.turns.step)
	}
	w.turns.mu.Lock()
	defer w.turns.mu.Unlock()
	return w.take(l, word, nil)
}

// take collects what the answer to a word needs.
func (w *words) take(l *link, wordAndArgument []byte, step func(int)) func() string {
	word, argument := string(wordAndArgument[:4]), wordAndArgument[4:]
	if word != "stmk" {
		argument = nil
	}
	w.packets.Received++
	if !slices.Contains(w.opts.FourLetterWords, word) &&
		!slices.Contains(w.opts.FourLetterWords, "*") {
		return func() string { return fourletter.Refusal(word) }
	}
	s := w.server(l)
	s.Step = step
	text := fourletter.Take(word, argument, &s)
	w.apply(word, argument)
	return text
}

func (w *words) apply(word string, argument []byte) {
	switch word {
	case "srst":
		w.packets = engine.Stats{}
		w.traffic.Reset()
	case "stmk":
		if mask, ok := fourletter.TraceMask(argument); ok {
			w.traceMask = mask
		}
	}
}

// server is the server as answers to words on l show it: that of Debian 12 in its default
// directories. Its host is an invented one, so that answers are the same everywhere.
func (w *words) server(l *link) fourletter.Server {
	return fourletter.Server{
		Engine:    w.engine,
		Number:    l.server,
		Now:       time.Now(),
		Started:   w.started,
		Addr:      w.addressOf,
		Asker:     l.address(),
		Words:     w.packets,
		Traffic:   w.traffic,
		TraceMask: w.traceMask,
		Settings: fourletter.Settings{
			ClientPort:        w.ports[l.server],
			DataDir:           "/var/lib/zookeeper",
			TickTime:          w.opts.TickTime,
			MinSessionTimeout: w.opts.MinSessionTimeout,
			MaxSessionTimeout: w.opts.MaxSessionTimeout,
			MaxClientConns:    max(w.opts.MaxClientConns, 0),
		},
		Env: fourletter.Environment("zookeeper", "6.1.0-28-amd64", "zookeeper",
			"/var/lib/zookeeper", "/"),
	}
}

// addressOf is the address of a connection's client, "" if there is none.
func (w *words) addressOf(id engine.ConnID) string {
	if l := w.links.served(id); l != nil {
		return l.address()
	}
	return ""
}
