package foreign

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/lock"
	"github.com/zksim/zksim/linearizability/queue"
	"github.com/zksim/zksim/linearizability/value"
)

// claims are the claims of each kind.
var claims = map[string]lin.Claims{
	"register": value.Register{}, "queue": queue.Claims{}, "lock": lock.Claims{},
}

const (
	registerEDN = `; a comment
[{:process 0, :type :invoke, :f :read, :value nil, :time 10, :index 0}
 {:process 0, :type :ok, :f :read, :value nil, :time 20}
 #_{:process 9, :type :bad}
 {:process :nemesis, :type :info, :f :start, :value [:isolated {"n1" #{"n2" "n3"}}]}
 #jepsen.history.Op{:process 1, :type :invoke, :f :write, :value 1}
 {:process 1, :type :info, :f :write, :value 1, :error [:timeout "no\nreply\u0021"]}
 {:process 2, :type :invoke, :f :cas, :value [1 2]}
 {:process 0, :type :invoke, :f :read, :value nil}
 {:process 2, :type :ok, :f :cas, :value [1 2]}
 {:process 0, :type :ok, :f :read, :value %s}
 {:process 3, :type :invoke, :f :cas, :value [1 7]}
 {:process 3, :type :fail, :f :cas, :value [1 7]}]`
	queueEDN = `{:process 0, :type :invoke, :f :enqueue, :value "x"}
{:process 0, :type :ok, :f :enqueue, :value "x"}
{:process 0, :type :invoke, :f :enqueue, :value "y"}
{:process 0, :type :ok, :f :enqueue, :value "y"}
{:process 1, :type :invoke, :f :dequeue, :value nil}
{:process 1, :type :ok, :f :dequeue, :value "%s"}
{:process 1, :type :invoke, :f :drain, :value nil}
{:process 1, :type :ok, :f :drain, :value ("y")}`
	lockEDN = `{:process 0, :type :invoke, :f :acquire, :value nil}
{:process 0, :type :ok, :f :acquire, :value 7}
{:process 0, :type :%s, :f :release, :value nil}
{:process 0, :type :ok, :f :release, :value nil}
{:process 1, :type :invoke, :f :acquire, :value nil}
{:process 1, :type :ok, :f :acquire, :value 9}`
	registerJSON = `[{"ClientId":0,"Input":{"op":"write","value":1},"Call":0,"Output":null,"Return":10},
{"ClientId":0,"Input":{"Op":"cas","Value":[1,2]},"Call":10,"Output":null,"Return":20},
{"ClientId":1,"Input":{"op":"write","value":3},"Call":5,"Output":{"unknown":true},"Return":9},
{"ClientId":2,"Input":{"op":"read"},"Call":30,"Output":%s,"Return":40,"Metadata":{"a":1}}]`
	lockJSON = `{"ClientId":0,"Input":{"op":"lock"},"Call":0,"Output":7,"Return":10}
{"ClientId":0,"Input":{"op":"unlock"},"Call":%d,"Output":null,"Return":40}
{"ClientId":1,"Input":{"op":"lock"},"Call":20,"Output":9,"Return":30}`
)

type reader = func(text, kind string) (lin.History, error)

func jepsen(text, kind string) (lin.History, error) {
	return Jepsen(strings.NewReader(text), kind, "")
}

func porcupine(text, kind string) (lin.History, error) {
	return Porcupine(strings.NewReader(text), kind, "")
}

func TestHistoriesOfOthersAreJudged(t *testing.T) {
	for _, c := range []struct {
		name, kind string
		read       reader
		good, bad  string
	}{
		{"a register of Jepsen", "register", jepsen, fmt.Sprintf(registerEDN, "2"),
			fmt.Sprintf(registerEDN, "7")},
		{"a queue of Jepsen", "queue", jepsen, fmt.Sprintf(queueEDN, "x"),
			fmt.Sprintf(queueEDN, "z")},
		{"a lock of Jepsen", "lock", jepsen, fmt.Sprintf(lockEDN, "invoke"),
			strings.Join(strings.Split(fmt.Sprintf(lockEDN, "invoke"), "\n")[:2], "\n") +
				strings.Join(strings.Split(lockEDN, "\n")[4:], "\n")},
		{"a register of porcupine", "register", porcupine, fmt.Sprintf(registerJSON, "2"),
			fmt.Sprintf(registerJSON, "1")},
		{"a lock of porcupine", "lock", porcupine, fmt.Sprintf(lockJSON, 15),
			fmt.Sprintf(lockJSON, 35)},
	} {
		t.Run(c.name, func(t *testing.T) {
			for text, want := range map[string]lin.Status{c.good: lin.OK, c.bad: lin.Violated} {
				h, err := c.read(text, c.kind)
				check.OK(t, err)
				if r := lin.Judge(h, nil, claims[c.kind]); r.Status() != want {
					t.Errorf("got\n%s\nwant %s", r, want)
				}
			}
		})
	}
}

func TestOneKeyOfSeveral(t *testing.T) {
	const pairs = `{:process 0, :type :invoke, :f :write, :value [1 5]}
{:process 0, :type :ok, :f :write, :value [1 5]}
{:process 0, :type :invoke, :f :read, :value [%d nil]}
{:process 0, :type :ok, :f :read, :value [%[1]d 5]}`
	for key, want := range map[int]lin.Status{1: lin.OK, 2: lin.Violated} {
		h, err := Jepsen(strings.NewReader(fmt.Sprintf(pairs, key)), "register", fmt.Sprint(key))
		check.OK(t, err)
		check.Equal(t, lin.Judge(h, nil, value.Register{}).Status(), want)
	}
}

func TestErrorsSayWhere(t *testing.T) {
	const invoke = "{:process 0, :type :invoke, :f :read, :value nil}\n"
	for _, c := range []struct {
		name string
		read reader
		text string
		want string
	}{
		{"no map", jepsen, invoke + "7", `line 2: "7"; expected a map`},
		{"another type", jepsen, "\n{:process 0, :type :okay}",
			"line 2: :type: :okay; expected :invoke, :ok, :fail or :info"},
		{"no process", jepsen, "{:type :ok}", "line 1: :process: nil; expected a number"},
		{"another operation", jepsen, strings.Replace(invoke, "read", "append", 1),
			`line 1: operation "append"; a register has cas, get, put, read, write`},
		{"two calls", jepsen, invoke + invoke, "line 2: p0 calls read, but its call before"},
		{"a return without a call", jepsen, "{:process 0, :type :ok, :f :read, :value 1}",
			"line 1: p0 returns, but has not called"},
		{"half a map", jepsen, invoke + "{:process", "line 2: the history is cut off"},
		{"half a vector", jepsen, "[" + invoke, "line 2: the history is cut off"},
		{"half a text", jepsen, `{:process "`, "line 1: the history is cut off"},
		{"an odd map", jepsen, "{:process 0 :type}", "line 1: :type: the key has no value"},
		{"a key twice", jepsen, "{:process 0 :process 1}",
			"line 1: :process: the key is there twice"},
		{"a bracket too many", jepsen, "{:process ]}", "line 1: ']' closes nothing"},
		{"an unknown escape", jepsen, `{:process "\q"}`,
			`line 1: a string has the unknown escape \q`},
		{"too deep", jepsen, strings.Repeat("{:a ", 70), "nested deeper than 64"},
		{"too long", jepsen, `{:a "` + strings.Repeat("x", maxForm), "at most 1048576 bytes"},
		{"pairs", jepsen, "{:process 0, :type :invoke, :f :read, :value [1 nil]}",
			"line 1: value of read: [1 ], a pair of a key and a value; choose one key, by --key"},
		{"a cas of one", jepsen, "{:process 0, :type :invoke, :f :cas, :value 1}",
			"line 1: value of cas: 1; expected a list of an old and a new value"},
		{"a write of nil", jepsen, "{:process 0, :type :invoke, :f :write}",
			"line 1: value of write: nil; expected a value"},
		{"a key of its own", jepsen, `{:process 0, :type :invoke, :f :read, :key "5"}`,
			`line 1: :key: "5"; choose one key, by --key`},
		{"no JSON", porcupine, "x", "operation 1: invalid character"},
		{"another field", porcupine, `[{"Client":1}]`, `operation 1: json: unknown field "Client"`},
		{"half an array", porcupine, `[{"ClientId":1}`, "operation 2: the history is cut off"},
		{"no client", porcupine, `{"Input":{"op":"read"}}`,
			"operation 1: field ClientId is missing"},
		{"back in time", porcupine, `{"ClientId":1,"Input":{"op":"read"},"Call":5,"Return":4}`,
			"operation 1: field Return: 4, before Call: 5"},
		{"keys", porcupine, `{"ClientId":1,"Input":{"op":"read","key":1}}`,
			"operation 1: field Input.key: 1; choose one key"},
		{"no operation", porcupine, `{"ClientId":1,"Input":{}}`,
			`operation 1: operation ""; a register has`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.read(c.text, "register")
			if err == nil {
				t.Fatalf("got no error; want %q", c.want)
			}
			check.Contains(t, err.Error(), c.want)
		})
	}
	_, err := jepsen("", "set")
	check.Equal(t, err.Error(), `kind of object "set"; expected one of register, queue, lock`)
	_, err = jepsen(`{:process 0, :type :invoke, :f :drain}`, "queue")
	check.Equal(t, err.Error(),
		"p0's drain (event 1) never returned: this history cannot be judged")
	_, err = Jepsen(strings.NewReader(invoke), "register", "7")
	check.Equal(t, err.Error(), "there is no operation on the key 7")
}

// TestLogsOfJepsen: the verdicts on recorded histories of etcd are those that porcupine's own tests
// expect.
func TestLogsOfJepsen(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}",
		"github.com/anishathalye/porcupine").Output()
	if err != nil {
		t.Skip("the sources of porcupine are not there: ", err)
	}
	logs := filepath.Join(strings.TrimSpace(string(dir)), "test_data", "jepsen")
	for name, want := range map[string]lin.Status{
		"etcd_000": lin.Violated, "etcd_001": lin.Violated, "etcd_005": lin.OK,
		"etcd_006": lin.Violated, "etcd_007": lin.OK, "etcd_075": lin.OK, "etcd_076": lin.OK,
	} {
		text, err := os.ReadFile(filepath.Join(logs, name+".log"))
		if err != nil {
			t.Skip(err)
		}
		h, err := Jepsen(bytes.NewReader(ednOf(text)), "register", "")
		check.OK(t, err)
		check.Equal(t, lin.Judge(h, nil, value.Register{MaxSteps: 1_000_000}).Status(), want, name)
	}
}

// ednOf turns the lines of a log of Jepsen into maps.
func ednOf(log []byte) []byte {
	line := regexp.MustCompile(`(?m)^INFO +jepsen\.util - (\d+)\t:(\w+)\t:(\w+)\t(.*)$`)
	other := regexp.MustCompile(`(?m)^[^{\n].*\n`)
	maps := line.ReplaceAllFunc(log, func(l []byte) []byte {
		m := line.FindSubmatch(l)
		v := string(m[4])
		if v == ":timed-out" {
			v = "nil"
		}
		return fmt.Appendf(nil, "{:process %s, :type :%s, :f :%s, :value %s}", m[1], m[2], m[3], v)
	})
	return other.ReplaceAll(maps, nil)
}

func FuzzJepsen(f *testing.F) {
	f.Add(fmt.Sprintf(registerEDN, "2"))
	f.Add(fmt.Sprintf(queueEDN, "x"))
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range Kinds() {
			if h, err := jepsen(text, kind); err == nil {
				checkSteps(t, h)
			}
		}
	})
}

func FuzzPorcupine(f *testing.F) {
	f.Add(fmt.Sprintf(registerJSON, "2"))
	f.Add(fmt.Sprintf(lockJSON, 15))
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range Kinds() {
			if h, err := porcupine(text, kind); err == nil {
				checkSteps(t, h)
			}
		}
	})
}

// checkSteps checks that no operation returns before it was called.
func checkSteps(t *testing.T, h lin.History) {
	t.Helper()
	for _, op := range h.Ops {
		if op.Call < 1 || op.Return >= 0 && op.Return <= op.Call || op.Return > h.End {
			t.Errorf("%+v", op)
		}
	}
}
