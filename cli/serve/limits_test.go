package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zksim/zksim/fakezk/tree"
	"github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// answered ends the test unless the endpoint answers a request within the patience of a test.
func (c *control) answered(t *testing.T, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	answers := make(chan *httptest.ResponseRecorder, 1)
	go func() {
		w := httptest.NewRecorder()
		c.ServeHTTP(w, httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body)))
		answers <- w
	}()
	select {
	case w := <-answers:
		return w
	case <-time.After(patience):
		t.Fatalf("%s %s: no answer in %s", method, path, patience)
		return nil
	}
}

// othersAreAnswered asks for one thing of each room.
func (c *control) othersAreAnswered(t *testing.T) {
	t.Helper()
	for _, get := range []string{"/server", "/tree", "/dump", "/history?wait=1ms"} {
		check.Equal(t, c.answered(t, "GET", get, "").Code, 200, get)
	}
	check.Equal(t, c.answered(t, "POST", "/load", "{}").Code, 200, "/load")
	check.Equal(t, c.answered(t, "PUT", "/nodes/a", "x").Code, 200, "/nodes/a")
}

// A slowBody tells that it is read, and then has nothing until release is closed.
type slowBody struct {
	read    chan<- struct{}
	release <-chan struct{}
}

func (b slowBody) Read([]byte) (int, error) {
	b.read <- struct{}{}
	<-b.release
	return 0, io.EOF
}

// TestSlowBodiesHoldNobodyUp: more clients than any room has places send a header, but no body.
func TestSlowBodiesHoldNobodyUp(t *testing.T) {
	c := controlWithHistory(t, "")
	read, release, ended := make(chan struct{}), make(chan struct{}), make(chan int)
	slow := []string{"POST /load", "POST /drop", "PUT /nodes/b", "GET /tree", "GET /history?wait=1m"}
	for _, line := range slow {
		method, path, _ := strings.Cut(line, " ")
		for range maxWaiting + 1 {
			go func() {
				w := httptest.NewRecorder()
				c.ServeHTTP(w, httptest.NewRequest(method, "http://localhost"+path,
					slowBody{read, release}))
				ended <- w.Code
			}()
		}
	}
	for range len(slow) * (maxWaiting + 1) {
		select {
		case <-read:
		case <-time.After(patience):
			t.Fatal("not all bodies are read at the same time")
		}
	}
	c.othersAreAnswered(t)
	check.OK(t, c.close()) // those who wait for a record would wait on
	close(release)
	for range len(slow) * (maxWaiting + 1) {
		check.Equal(t, <-ended, 503)
	}
}

// A slowReader takes nothing until release is closed. It keeps the deadlines that it gets.
type slowReader struct {
	*httptest.ResponseRecorder
	wrote   chan<- struct{}
	release <-chan struct{}
}

func (r slowReader) Write(p []byte) (int, error) {
	select {
	case <-r.release:
	default:
		r.wrote <- struct{}{}
		<-r.release
	}
	return r.ResponseRecorder.Write(p)
}

// TestSlowReadersHoldNobodyUp: their replies are counted until they have them.
func TestSlowReadersHoldNobodyUp(t *testing.T) {
	c := controlWithHistory(t, "")
	check.OK(t, c.main.Put("/b", bytes.Repeat([]byte("x"), 1_000_000)))
	wrote, release, ended := make(chan struct{}), make(chan struct{}), make(chan int)
	slow := []string{"/tree", "/nodes/b", "/faults/1?wait=1m"}
	check.Equal(t, c.answered(t, "POST", "/faults", "cut request=1").Code, 200)
	for _, path := range slow {
		for range maxWorking + maxWhole {
			go func() {
				w := httptest.NewRecorder()
				r := httptest.NewRequest("GET", "http://localhost"+path, nil)
				if strings.Contains(path, "wait") {
					r = canceled(r)
				}
				c.ServeHTTP(slowReader{w, wrote, release}, r)
				ended <- w.Body.Len()
			}()
		}
	}
	for range len(slow) * (maxWorking + maxWhole) {
		select {
		case <-wrote:
		case <-time.After(patience):
			t.Fatal("not all replies are written at the same time")
		}
	}
	c.othersAreAnswered(t)
	held := c.memory.held.Load()
	if held < 2*1_000_000*(maxWorking+maxWhole) {
		t.Errorf("%d bytes are held", held)
	}
	close(release)
	for range len(slow) * (maxWorking + maxWhole) {
		held -= int64(<-ended)
	}
	check.Equal(t, held, 0)
	check.Equal(t, c.memory.held.Load(), 0)
}

// TestWholeTreesLeaveRoomForOthers: the clients that want long lists wait for each other, until the
// end.
func TestWholeTreesLeaveRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := controlWithHistory(t, "")
		for range maxWhole {
			c.whole <- struct{}{}
		}
		ended := make(chan int, maxWorking)
		for range maxWorking {
			go func() {
				w := httptest.NewRecorder()
				c.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/tree", nil))
				ended <- w.Code
			}()
		}
		synctest.Wait()
		check.Equal(t, len(ended), 0)
		check.Equal(t, c.answered(t, "GET", "/server", "").Code, 200)
		check.OK(t, c.close())
		synctest.Wait()
		check.Equal(t, len(ended), maxWorking)
		check.Equal(t, <-ended, 503)
	})
}

// TestLargeBodiesAndRepliesAreBounded, and small ones pass.
func TestLargeBodiesAndRepliesAreBounded(t *testing.T) {
	c := controlWithHistory(t, "")
	large := strings.Repeat("x", 2*smallBytes)
	check.Equal(t, c.answered(t, "POST", "/load", "/b: "+large).Code, 200)
	others := c.memory.share()
	check.OK(t, others.grow(maxHeld+1)) // who is alone may have more
	for line, body := range map[string]string{
		"GET /tree": "", "GET /dump": "", "GET /dump?format=json": "", "GET /nodes/b": "",
		"POST /load": "/c: " + large,
	} {
		method, path, _ := strings.Cut(line, " ")
		w := c.answered(t, method, path, body)
		check.Equal(t, fmt.Sprint(w.Code, w.Header()["Retry-After"]), "503 [1]", line)
		check.Contains(t, w.Body.String(),
			`"the bodies and replies of other requests take 64 MiB already; ask again later"`, line)
	}
	check.Equal(t, c.memory.held.Load(), maxHeld+1)
	check.Equal(t, c.answered(t, "GET", "/server", "").Code, 200)
	check.Equal(t, c.answered(t, "PUT", "/nodes/c", "x").Code, 200)
	check.Equal(t, c.answered(t, "POST", "/load", "/d: x").Code, 200)
	check.OK(t, others.grow(maxHeld))
	check.Equal(t, c.answered(t, "GET", "/server", "").Code, 503, "in an emergency")
	others.release()
	check.Equal(t, c.answered(t, "GET", "/tree", "").Code, 200)
	check.Equal(t, c.memory.held.Load(), 0)
}

// TestMemoryIsGivenBackAfterSomethingLarge: once for all that goes within some seconds.
func TestMemoryIsGivenBackAfterSomethingLarge(t *testing.T) {
	large := strings.Repeat("x", 2*smallBytes)
	for _, test := range []struct {
		requests string // POST /load is of a long file
		want     int
	}{
		{"GET /server,PUT /nodes/a,DELETE /nodes/a,GET /tree", 0},
		{"POST /load,POST /reset,POST /load", 1},
		{"POST /reset", 1},
		{"POST /namespaces,DELETE /namespaces/n1", 1},
		{"PUT /nodes/a/b,DELETE /nodes/a", 1},
		{"POST /load,pause,GET /tree,GET /dump", 2},
		{"POST /load,pause,pause,GET /nodes/b,pause,GET /server", 2},
	} {
		t.Run(test.requests, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, given := controlWithHistory(t, ""), 0
				c.memory.giveBack = func() { given++ }
				for line := range strings.SplitSeq(test.requests, ",") {
					method, path, _ := strings.Cut(line, " ")
					switch path {
					case "":
						time.Sleep(2 * giveBackAfter)
					case "/load":
						c.answered(t, method, path, "/b: "+large)
					default:
						c.answered(t, method, path, "")
					}
				}
				time.Sleep(2 * giveBackAfter)
				synctest.Wait()
				check.Equal(t, given, test.want)
			})
		})
	}
}

// pipes is a listener of pipes.
type pipes struct {
	conns chan net.Conn
	net.Listener
}

func (p pipes) Accept() (net.Conn, error) {
	if conn, open := <-p.conns; open {
		return conn, nil
	}
	return nil, net.ErrClosed
}

// overPipe sends a text to a control endpoint over a connection without any buffer.
func overPipe(t *testing.T, c *control, text string) net.Conn {
	t.Helper()
	client, server := net.Pipe()
	l := pipes{make(chan net.Conn, 1), c.listener}
	l.conns <- server
	go func() { _ = c.http.Serve(l) }()
	t.Cleanup(func() {
		close(l.conns)
		_ = client.Close()
	})
	_, err := io.WriteString(client, text)
	check.OK(t, err)
	return client
}

// TestClientsThatTakeNothingLoseTheConnection after ten seconds, and slow ones after a minute.
func TestClientsThatTakeNothingLoseTheConnection(t *testing.T) {
	for _, test := range []struct {
		pause, lasts time.Duration
		shrinks      bool // what waits for its reader
	}{{time.Hour, pieceTimeout, false}, {pieceTimeout - time.Second, requestTimeout, true}} {
		synctest.Test(t, func(t *testing.T) {
			c := controlWithHistory(t, "")
			check.OK(t, c.main.Put("/b", bytes.Repeat([]byte("x"), 1_000_000)))
			client := overPipe(t, c, "GET /tree HTTP/1.1\r\nHost: localhost\r\n\r\n")
			began, ended := time.Now(), make(chan struct{})
			go func() {
				for {
					select {
					case <-time.After(test.pause):
					case <-ended:
						return
					}
					if _, err := io.CopyN(io.Discard, client, 2*pieceBytes); err != nil {
						return
					}
				}
			}()
			for c.memory.held.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
			most, last := int64(0), int64(0)
			for held := int64(1); held > 0; held = c.memory.held.Load() {
				most, last = max(most, held), held
				time.Sleep(time.Millisecond)
			}
			close(ended)
			check.Equal(t, time.Since(began).Round(time.Second), test.lasts)
			check.Equal(t, last < most, test.shrinks)
		})
	}
}

// TestBodiesThatDoNotComeAreRefused after a minute.
func TestBodiesThatDoNotComeAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := overPipe(t, controlWithHistory(t, ""),
			"POST /load HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n/a: ")
		began := time.Now()
		res, err := http.ReadResponse(bufio.NewReader(client), nil)
		check.OK(t, err)
		check.Equal(t, res.StatusCode, http.StatusRequestTimeout)
		body, err := io.ReadAll(res.Body)
		check.OK(t, err)
		check.Contains(t, string(body), "the body has not come within 1m0s")
		check.Equal(t, time.Since(began), requestTimeout)
	})
}

// TestNoTreeIsLoadedAfterTheEnd: reading a long file may take longer than the rest of the server.
func TestNoTreeIsLoadedAfterTheEnd(t *testing.T) {
	c := controlWithHistory(t, "")
	r := &request{control: c, namespace: c.main}
	load := func(path string) error {
		_, err := r.load(tree.Tree{Nodes: []view.NodeSpec{{Path: path}}})
		return err
	}
	check.OK(t, load("/a"))
	check.OK(t, c.close())
	check.Is(t, load("/b"), errStops)
	check.Equal(t, c.main.Exists("/b"), false)
}

// TestInterruptedLoadIsAStop: the end of the server interrupts a load.
func TestInterruptedLoadIsAStop(t *testing.T) {
	c := controlWithHistory(t, "")
	check.OK(t, c.main.Close())
	w := c.answered(t, "POST", "/load", "/a: x")
	check.Equal(t, fmt.Sprint(w.Code, w.Header()["Retry-After"]), "503 []")
	check.Contains(t, w.Body.String(), "the server stops")
}

// TestListsAreAsPackageJSONWritesThem, though one entry at a time is encoded.
func TestListsAreAsPackageJSONWritesThem(t *testing.T) {
	for n := range 4 {
		entries := slices.Repeat([]sessionEntry{{Name: "<S>", Ephemerals: []string{"/a", "/b"}}}, n)
		var want, got bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		check.OK(t, enc.Encode(entries))
		check.OK(t, list[sessionEntry](slices.Values(entries)).encode(&got))
		check.Equal(t, got.String(), want.String())
	}
}

// TestPiecesOfRepliesAreShort, whatever is written.
func TestPiecesOfRepliesAreShort(t *testing.T) {
	r := &reply{status: 200}
	var want []byte
	for n := range 400 {
		text := bytes.Repeat([]byte{byte(n)}, n*n)
		want = append(want, text...)
		_, err := r.Write(text)
		check.OK(t, err)
	}
	for _, piece := range r.pieces {
		if len(piece) > pieceBytes {
			t.Errorf("a piece of %d bytes", len(piece))
		}
	}
	check.Equal(t, bytes.Equal(slices.Concat(r.pieces...), want), true)
	w := httptest.NewRecorder()
	check.OK(t, r.send(w))
	check.Equal(t, w.Header().Get("Content-Length"), fmt.Sprint(len(want)))
	check.Equal(t, bytes.Equal(w.Body.Bytes(), want), true)
}

// TestStreamsSendLongHistoriesInParts: a hundred slow readers have no more in memory.
func TestStreamsSendLongHistoriesInParts(t *testing.T) {
	c := controlWithHistory(t, "")
	for range 5 * streamRecords / 2 {
		check.OK(t, c.main.Put("/a", nil))
	}
	r := httptest.NewRequest("GET", "http://localhost/events", nil)
	asked := &request{Request: r, control: c, namespace: c.main, ctx: r.Context()}
	s := &eventStream{request: asked}
	var counts []int
	for range 3 {
		chunk, err := s.next()
		check.OK(t, err)
		counts = append(counts, bytes.Count(chunk, []byte("data: ")))
	}
	total := c.main.lastRecord()
	check.List(t, counts, []int{streamRecords, streamRecords, int(total) - 2*streamRecords})
	check.Equal(t, s.after, total)
}

// TestDocumentsHaveTheLimits, those of the constants.
func TestDocumentsHaveTheLimits(t *testing.T) {
	for file, words := range map[string][]string{
		"doc.go": {
			fmt.Sprintf("%d work at a time", maxWorking), fmt.Sprintf("%d requests with wait", maxWaiting),
			fmt.Sprintf("%d KiB of a reply", pieceBytes>>10), fmt.Sprintf("take %d MiB", maxHeld>>20),
			fmt.Sprintf("%d MiB gets 503", smallBytes>>20), fmt.Sprintf("at %d MiB", 2*maxHeld>>20),
		},
		"../../docs/control.md": {
			fmt.Sprintf("| %d, and two of", maxWorking),
			fmt.Sprintf("| requests with `wait`, and event streams | %d |", maxWaiting),
			fmt.Sprintf("| %d MiB | 503 for a body or reply above %d MiB; for all at %d MiB |",
				maxHeld>>20, smallBytes>>20, 2*maxHeld>>20),
			fmt.Sprintf("for each %d KiB |", pieceBytes>>10),
			fmt.Sprintf("| namespaces | %d |", maxNamespaces),
			fmt.Sprintf("at most %d MiB, every other body %d MiB", tree.MaxBytes>>20, maxControlBody>>20),
		},
	} {
		text := testrun.ReadFile(t, file)
		for _, word := range words {
			check.Contains(t, strings.Join(strings.Fields(strings.ReplaceAll(text, "//", "")), " "),
				word, file)
		}
	}
}
