package realzk

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// debianJars is the folder of Debian's jars. The manifest of zookeeper.jar names all
// other jars that it needs, except the one for its log.
const debianJars = "/usr/share/java"

// find returns the path of Java and the class path of ZooKeeper.
func find() (java, classpath string, err error) {
	if java, err = findJava(); err != nil {
		return "", "", err
	}
	if classpath = os.Getenv("ZKSIM_ZOOKEEPER_CLASSPATH"); classpath != "" {
		return java, classpath, nil
	}
	var jars []string
	for _, name := range []string{"zookeeper.jar", "slf4j-simple.jar"} {
		jar := filepath.Join(debianJars, name)
		if _, err := os.Stat(jar); err != nil {
			return "", "", fmt.Errorf("%w: no %s; install it (Debian: libzookeeper-java) "+
				"or set ZKSIM_ZOOKEEPER_CLASSPATH", ErrMissing, jar)
		}
		jars = append(jars, jar)
	}
	return java, strings.Join(jars, string(os.PathListSeparator)), nil
}

func findJava() (string, error) {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		if java, err := exec.LookPath(filepath.Join(home, "bin", "java")); err == nil {
			return java, nil
		}
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return "", fmt.Errorf("%w: no java in JAVA_HOME or PATH; "+
			"install it (Debian: default-jre-headless)", ErrMissing)
	}
	return java, nil
}
