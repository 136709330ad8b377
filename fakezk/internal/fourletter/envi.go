package fourletter

import "strings"

// KeyValue is one line of envi.
type KeyValue struct{ Key, Value string }

// envi answers the word envi: the environment.
//
// Source: EnvCommand.
func envi(s *Server) string {
	var b strings.Builder
	b.WriteString("Environment:\n")
	for _, e := range s.Env {
		b.WriteString(e.Key + "=" + e.Value + "\n")
	}
	return b.String()
}

const javaLibraryPath = "/usr/java/packages/lib:/usr/lib/x86_64-linux-gnu/jni:" +
	"/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/usr/lib/jni:/lib:/usr/lib"

// Environment returns the lines of envi on Debian 12 with Java 17 and ZooKeeper's defaults. The
// arguments are the values that differ between machines: the host name, the version of the kernel
// ("6.1.0-28-amd64"), the user, the user's home and the server's working directory.
//
// Source: Environment.list.
func Environment(host, kernel, user, home, dir string) []KeyValue {
	return []KeyValue{
		{"zookeeper.version", Version},
		{"host.name", host},
		{"java.version", "17.0.15"},
		{"java.vendor", "Debian"},
		{"java.home", "/usr/lib/jvm/java-17-openjdk-amd64"},
		{"java.class.path", "/etc/zookeeper/conf:/usr/share/java/zookeeper.jar"},
		{"java.library.path", javaLibraryPath},
		{"java.io.tmpdir", "/tmp"},
		{"java.compiler", "<NA>"},
		{"os.name", "Linux"},
		{"os.arch", "amd64"},
		{"os.version", kernel},
		{"user.name", user},
		{"user.home", home},
		{"user.dir", dir},
		{"os.memory.free", "369MB"},
		{"os.memory.max", "6028MB"},
		{"os.memory.total", "388MB"},
	}
}
