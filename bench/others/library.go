package main

import (
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed drivers
var drivers embed.FS

// A library has recipes that a driver plays.
type library struct {
	name    string
	recipes []recipe
	// command returns the command line of the driver; its source is in dir. Its error wraps
	// errMissing if a dependency of the driver is not installed.
	command func(dir string) ([]string, error)
}

// A recipe is one of a library, as its driver calls it.
type recipe struct {
	name string
	kind kind
	// atLeastOnce marks a queue that may deliver an element again.
	atLeastOnce bool
	// unordered marks a queue that hands out due elements in any order.
	unordered bool
	// number reads the value of a counter's data; nil reads decimal digits.
	number func(data []byte) string
}

func (r *recipe) value(data []byte) string {
	if r.number != nil {
		return r.number(data)
	}
	if len(data) == 0 {
		return "0"
	}
	return string(data)
}

// errMissing is wrapped by errors that name a missing dependency of a driver.
var errMissing = errors.New("not installed")

var libraries = []library{
	{name: "kazoo", command: python, recipes: []recipe{
		{name: "Lock", kind: holding},
		{name: "ReadLock, WriteLock", kind: holding},
		{name: "Semaphore", kind: holding},
		{name: "Election", kind: holding},
		{name: "Barrier", kind: barring},
		{name: "DoubleBarrier", kind: doubleBarring},
		{name: "Queue", kind: queueing},
		{name: "LockingQueue", kind: queueing, atLeastOnce: true},
		{name: "Counter", kind: counting},
		{name: "Party", kind: membership},
	}},
	{name: "Curator", command: java, recipes: []recipe{
		{name: "InterProcessMutex", kind: holding},
		{name: "InterProcessReadWriteLock", kind: holding},
		{name: "InterProcessMultiLock", kind: holding},
		{name: "InterProcessSemaphoreV2", kind: holding},
		{name: "LeaderLatch", kind: holding},
		{name: "LeaderSelector", kind: holding},
		{name: "DistributedBarrier", kind: barring},
		{name: "DistributedDoubleBarrier", kind: doubleBarring},
		{name: "SimpleDistributedQueue", kind: queueing},
		{name: "DistributedQueue", kind: queueing},
		{name: "DistributedQueue, lockPath", kind: queueing, atLeastOnce: true},
		{name: "DistributedIdQueue", kind: queueing},
		{name: "DistributedPriorityQueue", kind: queueing},
		{name: "DistributedDelayQueue", kind: queueing, unordered: true},
		{name: "DistributedAtomicLong", kind: counting, number: bigEndian},
		{name: "SharedCount", kind: counting, number: bigEndian},
		{name: "PersistentNode", kind: membership},
		{name: "GroupMember", kind: membership},
	}},
	{name: "Apache", command: java, recipes: []recipe{
		{name: "recipes.lock.WriteLock", kind: holding},
		{name: "recipes.queue.DistributedQueue", kind: queueing},
		{name: "recipes.leader.LeaderElectionSupport", kind: holding},
	}},
}

// python finds a Python that has kazoo: Debian's first.
func python(dir string) ([]string, error) {
	for _, name := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(name, "-c", "import kazoo.client").Run() == nil {
			return []string{name, filepath.Join(dir, "drivers", "play_kazoo.py")}, nil
		}
	}
	return nil, fmt.Errorf("%w: a Python with kazoo; on Debian: apt-get install python3-kazoo",
		errMissing)
}

// jars are the files of Debian that the driver in Java needs.
var jars = []string{
	"curator-recipes", "curator-framework", "curator-client", "zookeeper", "zookeeper-jute",
	"zookeeper-recipes-lock", "zookeeper-recipes-queue", "zookeeper-recipes-election",
	"guava", "slf4j-api", "slf4j-nop",
	"netty-handler", "netty-common", "netty-buffer", "netty-codec", "netty-resolver",
	"netty-transport",
}

// java says how to run the driver of the libraries in Java.
func java(dir string) ([]string, error) {
	if _, err := exec.LookPath("java"); err != nil {
		return nil, fmt.Errorf("%w: java; on Debian: apt-get install default-jre-headless",
			errMissing)
	}
	var path []string
	for _, jar := range jars {
		file := "/usr/share/java/" + jar + ".jar"
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("%w: %s; on Debian: "+
				"apt-get install libcurator-recipes-java libzookeeper-java", errMissing, file)
		}
		path = append(path, file)
	}
	return compiled(dir, strings.Join(path, ":"))
}

// compiled compiles the driver once and says how to run it. Without a compiler, Java
// compiles it at each start.
func compiled(dir, path string) ([]string, error) {
	source, classes := filepath.Join(dir, "drivers", "Play.java"), filepath.Join(dir, "classes")
	command := []string{"java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"}
	if _, err := exec.LookPath("javac"); err != nil {
		return append(command, path, source), nil
	}
	if _, err := os.Stat(classes); err != nil {
		compiler := exec.Command("javac", "-d", classes, "-cp", path, source)
		if out, err := compiler.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("compile %s: %w\n%s", source, err, out)
		}
	}
	return append(command, classes+":"+path, "Play"), nil
}

// start starts a driver of the library.
func (l *library) start(dir string) (*driver, error) {
	command, err := l.command(dir)
	if err != nil {
		return nil, err
	}
	return startDriver(command[0], command[1:]...)
}

// bigEndian reads a number of four or eight bytes, as Java writes it.
func bigEndian(data []byte) string {
	switch len(data) {
	case 0:
		return "0"
	case 4:
		return fmt.Sprint(int32(binary.BigEndian.Uint32(data)))
	case 8:
		return fmt.Sprint(int64(binary.BigEndian.Uint64(data)))
	}
	return fmt.Sprintf("%d bytes", len(data))
}
