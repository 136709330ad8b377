package realzk

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// Options are the settings of a server. The zero value is good for tests: a
// tick of half a second, the extended create modes, all four-letter words.
type Options struct {
	// TickTime is the unit of time of session expiry, in whole milliseconds; 0 means 500 ms.
	TickTime time.Duration
	// MinSessionTimeout and MaxSessionTimeout bound the session timeouts of clients, in whole
	// milliseconds; 0 means 2 and 20 ticks.
	MinSessionTimeout, MaxSessionTimeout time.Duration
	// Properties are Java system properties, without -D. They are added to
	//
	//	zookeeper.admin.enableServer=false
	//	zookeeper.4lw.commands.whitelist=*
	//	zookeeper.extendedTypesEnabled=true    container and TTL nodes
	//	zookeeper.preAllocSize=64              KiB of log at a time
	//	zookeeper.forceSync=no                 no fsync; the data are thrown away
	//	org.slf4j.simpleLogger.defaultLogLevel=warn
	//
	// and override them. Other useful ones are
	// zookeeper.DigestAuthenticationProvider.superDigest,
	// znode.container.checkIntervalMs and zookeeper.enforceQuota.
	Properties map[string]string
	// JVMFlags are further flags of java, such as -Xmx1g. By default the heap is 256
	// MiB and the compiler is the quick one.
	JVMFlags []string
	// Config are further lines of zoo.cfg, such as "maxClientCnxns=3".
	Config []string
	// Cuttable puts proxies between the servers of an ensemble, for Server.CutOff.
	Cuttable bool
	// Folder is the parent of the server's temporary folder; empty means /dev/shm,
	// which is in memory, or, if that cannot be written, the system's temporary folder.
	Folder string
}

var defaultProperties = map[string]string{
	"org.slf4j.simpleLogger.defaultLogLevel": "warn",
	"zookeeper.admin.enableServer":           "false",
	"zookeeper.4lw.commands.whitelist":       "*",
	"zookeeper.extendedTypesEnabled":         "true",
	"zookeeper.preAllocSize":                 "64",
	"zookeeper.forceSync":                    "no",
}

func (o Options) parentFolder() string {
	if o.Folder != "" {
		return o.Folder
	}
	const memory = "/dev/shm"
	if info, err := os.Stat(memory); err == nil && info.IsDir() {
		if probe, err := os.CreateTemp(memory, "zksim-probe-*"); err == nil {
			closed, removed := probe.Close(), os.Remove(probe.Name())
			if closed == nil && removed == nil {
				return memory
			}
		}
	}
	return os.TempDir()
}

// config is zoo.cfg.
func (o Options) config(folder string, port int) []byte {
	tick := o.TickTime
	if tick <= 0 {
		tick = 500 * time.Millisecond
	}
	lines := []string{
		"dataDir=" + folder,
		fmt.Sprintf("clientPort=%d", port),
		"clientPortAddress=127.0.0.1",
		fmt.Sprintf("tickTime=%d", tick.Milliseconds()),
	}
	if o.MinSessionTimeout > 0 {
		ms := o.MinSessionTimeout.Milliseconds()
		lines = append(lines, fmt.Sprintf("minSessionTimeout=%d", ms))
	}
	if o.MaxSessionTimeout > 0 {
		ms := o.MaxSessionTimeout.Milliseconds()
		lines = append(lines, fmt.Sprintf("maxSessionTimeout=%d", ms))
	}
	lines = append(lines, o.Config...)
	return []byte(strings.Join(lines, "\n") + "\n")
}

// flags returns the flags for java, without class path and class. A later flag wins.
func (o Options) flags() []string {
	properties := maps.Clone(defaultProperties)
	maps.Copy(properties, o.Properties)
	flags := []string{"-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"}
	flags = append(flags, o.JVMFlags...)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		flags = append(flags, "-D"+name+"="+properties[name])
	}
	return flags
}
