// Package browser drives a headless Chromium, for the tests of pages. The test is skipped where
// there is none. A page that complains on its console, or asks for what it should not, makes a test
// fail.
package browser

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Browser is a page in a headless Chromium, driven by the DevTools protocol over a pipe: messages
// are JSON, each with a zero byte behind it.
type Browser struct {
	t       *testing.T
	to      io.Writer
	session string

	mu       sync.Mutex
	last     int
	replies  map[int]chan reply
	requests []string // the addresses that the page has asked for
	problems []string // errors on the console, and exceptions
	loaded   chan struct{}
}

type reply struct {
	ID     int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

// Start starts a Chromium with an empty page, or skips the test if there is none.
func Start(t *testing.T) *Browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && program == "" {
			program = path
		}
	}
	if program == "" {
		t.Skip("needs Chromium")
	}
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--disable-dev-shm-usage", "--user-data-dir="+t.TempDir(), "--remote-debugging-pipe",
		"about:blank")
	toRead, to := pipe(t)
	from, fromWrite := pipe(t)
	cmd.ExtraFiles = []*os.File{toRead, fromWrite}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	toRead.Close()
	fromWrite.Close()
	b := &Browser{t: t, to: to, replies: map[int]chan reply{}, loaded: make(chan struct{}, 9)}
	go b.read(from)
	t.Cleanup(func() {
		b.call("Browser.close", nil)
		if err := cmd.Wait(); err != nil {
			t.Logf("chromium: %v", err)
		}
	})
	b.attach()
	return b
}

// Of is the browser for a part of the test, which has seen nothing yet.
func (b *Browser) Of(t *testing.T) *Browser {
	whole := b.t
	t.Cleanup(func() { b.t = whole })
	b.mu.Lock()
	defer b.mu.Unlock()
	b.t, b.requests, b.problems = t, nil, nil
	return b
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// attach takes the first page of the browser.
func (b *Browser) attach() {
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	b.into(&targets, "Target.getTargets", nil)
	var attached struct{ SessionID string }
	for _, target := range targets.TargetInfos {
		if target.Type == "page" {
			b.into(&attached, "Target.attachToTarget",
				map[string]any{"targetId": target.TargetID, "flatten": true})
		}
	}
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil)
	}
}

// Size sets the size of the screen.
func (b *Browser) Size(wide, high int) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{
		"width": wide, "height": high, "deviceScaleFactor": 1, "mobile": false})
}

// read takes replies and events until the browser ends.
func (b *Browser) read(from io.Reader) {
	dec := json.NewDecoder(zeroless{from})
	for {
		var r reply
		if err := dec.Decode(&r); err != nil {
			return
		}
		b.mu.Lock()
		if answer := b.replies[r.ID]; answer != nil {
			delete(b.replies, r.ID)
			answer <- r
		}
		b.note(r)
		b.mu.Unlock()
	}
}

// note records the events of the page.
func (b *Browser) note(r reply) {
	var p struct {
		Request struct{ URL string }
		Type    string
		Entry   struct{ Level, Text string }
	}
	_ = json.Unmarshal(r.Params, &p) // events of other kinds have other fields
	switch {
	case r.Method == "Page.loadEventFired":
		b.loaded <- struct{}{}
	case r.Method == "Network.requestWillBeSent":
		b.requests = append(b.requests, p.Request.URL)
	case r.Method == "Runtime.exceptionThrown",
		r.Method == "Runtime.consoleAPICalled" && (p.Type == "error" || p.Type == "warning"),
		r.Method == "Log.entryAdded" && p.Entry.Level != "info" && p.Entry.Level != "verbose":
		b.problems = append(b.problems, string(r.Params))
	}
}

// zeroless reads without the zero bytes between messages.
type zeroless struct{ from io.Reader }

func (z zeroless) Read(p []byte) (int, error) {
	n, err := z.from.Read(p)
	for i := range p[:n] {
		if p[i] == 0 {
			p[i] = '\n'
		}
	}
	return n, err
}

// call sends a command and waits for its result.
func (b *Browser) call(method string, params any) json.RawMessage {
	b.t.Helper()
	answer := make(chan reply, 1)
	b.mu.Lock()
	b.last++
	id := b.last
	b.replies[id] = answer
	b.mu.Unlock()
	if params == nil {
		params = struct{}{}
	}
	message := map[string]any{"id": id, "method": method, "params": params}
	if b.session != "" && !strings.HasPrefix(method, "Browser.") {
		message["sessionId"] = b.session
	}
	text, err := json.Marshal(message)
	if err == nil {
		_, err = b.to.Write(append(text, 0))
	}
	if err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	select {
	case r := <-answer:
		if r.Error != nil {
			b.t.Fatalf("%s: %s", method, r.Error.Message)
		}
		return r.Result
	case <-time.After(time.Minute):
		b.t.Fatalf("%s: no answer", method)
	}
	return nil
}

// into decodes the result of a command.
func (b *Browser) into(v any, method string, params any) {
	b.t.Helper()
	if err := json.Unmarshal(b.call(method, params), v); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
}

// OpenFile writes a page to a file, and opens it.
func (b *Browser) OpenFile(page []byte) {
	b.t.Helper()
	name := filepath.Join(b.t.TempDir(), "run.html")
	if err := os.WriteFile(name, page, 0o666); err != nil {
		b.t.Fatal(err)
	}
	b.Open("file://" + name)
}

// Open opens the page at an address.
func (b *Browser) Open(address string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": address})
	select {
	case <-b.loaded:
	case <-time.After(time.Minute):
		b.t.Fatal("the page does not load")
	}
	b.settle()
}

// settle waits until the page has drawn itself.
func (b *Browser) settle() {
	b.t.Helper()
	b.Eval(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`)
}

// Eval is the value of an expression in the page, as text.
func (b *Browser) Eval(expression string) string {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.into(&r, "Runtime.evaluate", map[string]any{
		"expression": expression, "awaitPromise": true, "returnByValue": true})
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	return fmt.Sprint(r.Result.Value)
}

// Want fails the test unless an expression has a value.
func (b *Browser) Want(want, expression string) {
	b.t.Helper()
	if got := b.Eval(expression); got != want {
		b.t.Errorf("%s is %s; want %s", expression, got, want)
	}
}

// Press presses a key.
func (b *Browser) Press(key string) {
	b.t.Helper()
	down := map[string]any{"type": "keyDown", "key": key}
	if len(key) == 1 {
		down["text"] = key
	}
	b.call("Input.dispatchKeyEvent", down)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key})
	b.settle()
}

// Click clicks a place that an expression gives: the middle of an element, or a point {x, y}.
func (b *Browser) Click(expression string) {
	b.t.Helper()
	var at struct{ X, Y float64 }
	text := b.Eval(`(() => { const e = ` + expression + `;
		if (!e.getBoundingClientRect) return JSON.stringify(e);
		const r = e.getBoundingClientRect();
		return JSON.stringify({ X: r.x + r.width / 2, Y: r.y + r.height / 2 }) })()`)
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		b.t.Fatalf("%s: %v", text, err)
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{
			"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1})
	}
	b.settle()
}

// Quiet fails the test if the page has complained, or has asked for an address that does not begin
// with own. It returns the addresses that the page has asked for.
func (b *Browser) Quiet(own string) []string {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		b.t.Errorf("the page complains: %s", p)
	}
	for _, address := range b.requests {
		if !strings.HasPrefix(address, own) {
			b.t.Errorf("the page asks for %q; want %s only", address, own)
		}
	}
	return b.requests
}

var shots = flag.String("shots", "", "directory for screenshots; docs/img has most of them")

// Shoot writes a screenshot, if there is a directory for it.
func (b *Browser) Shoot(name string) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	var shot struct{ Data string }
	b.into(&shot, "Page.captureScreenshot", nil)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(*shots, name+".png"), data, 0o666)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}
