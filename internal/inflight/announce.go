package inflight

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// announcer is a process that outlives this one. When this one ends, it prints the notes that are
// left on standard error. Nothing in this process could: os.Exit and a fatal error of the runtime
// run no code. The zero value is none.
type announcer struct {
	alive   *os.File // closed when this process ends, however it does
	process *exec.Cmd
}

// announce waits for the end of its standard input, and prints the files whose names begin with $1.
// It prints $3 and $4, and the numbers of the runs between, if the file $2 says what isAcrossRuns
// looks for. It removes that file, and $5 with the number of the runs. The words are those of
// whichRuns.
const announce = `cat >/dev/null
for note in "$1"*; do
	[ -s "$note" ] || continue
	echo "zksim: this process ended while it played $note, which the next run of the test plays` +
	` first: $(cat "$note")"
done
begun=$(cat "$5" 2>/dev/null)
case "$begun" in
"") which= ;;
0 | 1) which="` + beforeRuns + `" ;;
2) which=" (made in run 1, used in run 2)" ;;
*) which=" (used in one of the runs 2 to $begun)" ;;
esac
line() { sed -n "$1p" "$crash" 2>/dev/null; }
crash="$2"
case "$(line 1)|$(line 2)|$(line 3)|$(line 5)" in
"|goroutine "*"[running"*"|runtime.fatal("*"|runtime."[sc]*) echo "zksim: $3$which$4" ;;
"|goroutine "*"[running"*"fatal("* | "|goroutine "*"[running"*"|runtime.throw("*) ;;
"|goroutine "*"[running"*) echo "zksim: $3$which$4" ;;
esac
rm -f "$crash" "$5"`

// startAnnouncer starts an announcer. Where there is no shell there is none.
func startAnnouncer(dir, crash string) (a announcer) {
	stdin, alive, err := os.Pipe()
	if err != nil {
		return announcer{}
	}
	defer stdin.Close()
	notes := filepath.Join(dir, prefix+strconv.Itoa(os.Getpid())+"-")
	process := exec.Command("/bin/sh", "-c", announce, "zksim", notes, crash, acrossRuns, acrossRunsWhy,
		runsFile(crash))
	process.Stdin, process.Stdout, process.Stderr = stdin, os.Stderr, os.Stderr
	if process.Start() != nil {
		alive.Close()
		return announcer{}
	}
	return announcer{alive, process}
}

// stop ends the announcer. It prints the notes that are there.
func (a announcer) stop() {
	if a.process != nil {
		a.alive.Close()
		_ = a.process.Wait() // its status says nothing
	}
}
