package fourletter

import (
	"fmt"
	"strings"
)

// conf answers the word conf: the configuration.
//
// Source: ZooKeeperServer.dumpConf.
func conf(s *Server) string {
	logDir := s.DataLogDir
	if logDir == "" {
		logDir = s.DataDir
	}
	size := s.dataSize()
	return fmt.Sprintf(`clientPort=%d
secureClientPort=%d
dataDir=%s/version-2
dataDirSize=%d
dataLogDir=%s/version-2
dataLogSize=%d
tickTime=%d
maxClientCnxns=%d
minSessionTimeout=%d
maxSessionTimeout=%d
clientPortListenBacklog=%d
%s`, orUnset(s.ClientPort), orUnset(s.SecureClientPort), s.DataDir, size, logDir, size,
		s.TickTime.Milliseconds(), s.MaxClientConns,
		s.MinSessionTimeout.Milliseconds(), s.MaxSessionTimeout.Milliseconds(),
		orUnset(s.ListenBacklog), s.peerConf())
}

// peerConf is the part of conf on the ensemble.
func (s *Server) peerConf() string {
	if s.Engine.Servers() == 1 {
		return "serverId=0\n"
	}
	members, _ := s.Engine.StoreOf(s.Number).Node("/zookeeper/config")
	return fmt.Sprintf(`serverId=%d
initLimit=10
syncLimit=5
electionAlg=3
electionPort=%d
quorumPort=%d
peerType=0
membership: 
%s`, s.Number+1, 3888+s.Number, 2888+s.Number, members.Data)
}

// orUnset returns -1 for 0: the real server shows an unset value so.
func orUnset(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// dirs answers the word dirs: the sizes of the directories.
//
// Source: DirsCommand.
func dirs(s *Server) string {
	return fmt.Sprintf("datadir_size: %d\nlogdir_size: %[1]d\n", s.dataSize())
}

// The files of a new server: the snapshot that it takes at its start and, after the
// first transaction, a log of 64 MiB and a header.
const (
	firstSnapshotBytes = 457
	firstLogBytes      = 64<<20 + 16
)

func (s *Server) dataSize() int64 {
	switch {
	case s.DataSize != 0:
		return s.DataSize
	case s.Engine.StoreOf(s.Number).LastZxid() == 0:
		return firstSnapshotBytes
	}
	return firstSnapshotBytes + firstLogBytes
}

// hash answers the word hash: the digests of the tree.
//
// Source: DigestCommand.
func hash(s *Server) string {
	var b strings.Builder
	for _, d := range s.Engine.StoreOf(s.Number).Digests() {
		fmt.Fprintf(&b, "%x: %d\n", uint64(d.Zxid), d.Value)
	}
	return b.String()
}
