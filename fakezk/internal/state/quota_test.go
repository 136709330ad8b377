package state

import (
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

const (
	limitsOfQ = "/zookeeper/quota/q/zookeeper_limits"
	statsOfQ  = "/zookeeper/quota/q/zookeeper_stats"
)

// createData returns a create with data, null for "".
func createData(path, data string) *proto.Create {
	c := create(path)
	c.Data = nil
	if data != "" {
		c.Data = []byte(data)
	}
	return c
}

// quotaFixture has /q (3 nodes, 9 bytes) under a quota.
func quotaFixture(t testing.TB, enforce bool, limits string) *Store {
	t.Helper()
	s := New(Config{EnforceQuota: enforce})
	s.Apply(s.PrepareCreateSession(s1, [16]byte{1}, 4000, 100))
	s.Apply(s.PrepareCreateSession(s2, [16]byte{2}, 8000, 200))
	must(t, s, guest(), createData("/q", "root"), createData("/q/a", "12345"),
		createData("/q/b", ""),
		create("/zookeeper/quota/q"), createData(limitsOfQ, limits),
		createData(statsOfQ, "whatever"))
	return s
}

func dataOf(t testing.TB, s *Store, path string) string {
	t.Helper()
	n, ok := s.Node(path)
	if !ok {
		t.Fatalf("no node %s", path)
	}
	return string(n.Data)
}

func TestNearestQuotaCountsAlone(t *testing.T) {
	s := quotaFixture(t, false, "count=4,bytes=20")
	must(t, s, guest(), create("/zookeeper/quota/q/a"),
		createData("/zookeeper/quota/q/a/zookeeper_limits", "count=10,bytes=100"),
		createData("/zookeeper/quota/q/a/zookeeper_stats", "garbage"), createData("/q/a/n", "abc"))
	near, far := dataOf(t, s, "/zookeeper/quota/q/a/zookeeper_stats"), dataOf(t, s, statsOfQ)
	if near != "count=2,bytes=8" || far != "count=3,bytes=9" {
		t.Errorf("near %s, far %s", near, far)
	}
	must(t, s, guest(), remove("/zookeeper/quota/q/a/zookeeper_limits"), remove("/q/a/n"))
	near, far = dataOf(t, s, "/zookeeper/quota/q/a/zookeeper_stats"), dataOf(t, s, statsOfQ)
	if near != "count=2,bytes=8" || far != "count=2,bytes=6" {
		t.Errorf("without the limits: near %s, far %s", near, far)
	}
}

// TestQuotaStatsOfOthers compares with a real server's updates of statistics that a client wrote.
func TestQuotaStatsOfOthers(t *testing.T) {
	tests := []struct{ stats, want string }{
		{"count=1,bytes=2=;zeta=3;alpha=4", "count=2,bytes=3=;alpha=4;zeta=3"},
		{"bytes=2", "count=0,bytes=3"},
		{"", "count=0,bytes=0"},
		{"count=,bytes=2", "count=,bytes=2"}, // not updated; the real server fails for good
		{"garbage", "garbage"},
	}
	for _, test := range tests {
		s := quotaFixture(t, false, "count=4,bytes=20")
		must(t, s, guest(), set(statsOfQ, test.stats, -1), createData("/q/c", "1"))
		check.Equal(t, dataOf(t, s, statsOfQ), test.want, "%q", test.stats)
	}
}

// TestHardLimits compares with a real server with zookeeper.enforceQuota. Package conform has more
// limits (families/quota.txt).
func TestHardLimits(t *testing.T) {
	tests := []struct {
		name   string
		limits string
		req    proto.Request
		want   proto.ErrCode
	}{
		{"smaller, but beyond", "byteHardLimit=1", set("/q/a", "5432", -1), proto.QuotaExceeded},
		{"count", "countHardLimit=3", create("/q/x"), proto.QuotaExceeded},
		{"elsewhere", "countHardLimit=3", create("/x"), proto.OK},
		{"delete", "countHardLimit=1", remove("/q/a"), proto.OK},
		{"garbage", "hello", create("/q/x"), proto.MarshallingError},
		{"garbage and setData", "hello", set("/q/a", "x", -1), proto.MarshallingError},
		{"no value", "count==5;countHardLimit=", create("/q/x"), proto.MarshallingError},
		{"leading separator", ",count=5", create("/q/x"), proto.MarshallingError},
		{"null limits", "", create("/q/x"), proto.MarshallingError},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := quotaFixture(t, true, test.limits)
			check.Equal(t, do(t, s, guest(), test.req).Err, test.want)
			lenient := quotaFixture(t, false, test.limits)
			if r := do(t, lenient, guest(), test.req); r.Err == proto.QuotaExceeded {
				t.Error("the limit is enforced without EnforceQuota")
			}
		})
	}
}

// TestMultiAndHardLimits shows that an operation of a multi does not see the counts that
// earlier ones add to the statistics, but the size of the data that they set.
func TestMultiAndHardLimits(t *testing.T) {
	s := quotaFixture(t, true, "byteHardLimit=14;countHardLimit=4")
	must(t, s, guest(), multi(create("/q/m1"), create("/q/m2"), create("/q/m3")))
	r := do(t, s, guest(), multi(create("/other"), create("/q/m4"), create("/q/m5")))
	want := multiFailure([]proto.ErrCode{proto.OK, proto.QuotaExceeded, proto.RuntimeInconsistency})
	check.Diff(t, r.Reply, proto.Reply(want))
	must(t, s, guest(), multi(set("/q/b", "01234", -1), set("/q/b", "0123456789", -1)))
	check.Equal(t, dataOf(t, s, statsOfQ), "count=6,bytes=19")
	must(t, s, guest(), set(limitsOfQ, "hello", -1))
	r = do(t, s, guest(), multi(create("/q/x")))
	check.Diff(t, r, Result{Err: proto.MarshallingError})
}

// TestReplyIsOlderThanTheStatistics shows that the stat in the reply is from before the
// counts are added.
func TestReplyIsOlderThanTheStatistics(t *testing.T) {
	s := quotaFixture(t, false, "count=4")
	must(t, s, guest(), remove(statsOfQ))
	made := createData(statsOfQ, "count=0,bytes=0.")
	made.Code = proto.OpCreate2
	reply := do(t, s, guest(), made).Reply.(proto.PathStatReply)
	if reply.Stat.DataLength != 16 || dataOf(t, s, statsOfQ) != "count=3,bytes=9" {
		t.Errorf("%+v, %s", reply, dataOf(t, s, statsOfQ))
	}
}

// TestOddQuotaNodes shows that nodes at which a real server fails for good are accepted
// and make no quota.
func TestOddQuotaNodes(t *testing.T) {
	s := newStore(t)
	must(t, s, guest(), createData("/zookeeper/quota/zookeeper_limits", "count=1"),
		createData("/x", "12345"),
		createData("/zookeeper/quota/zookeeper_stats", "x"))
	// The tree as a whole is counted when its statistics are made, and never again.
	check.Equal(t, dataOf(t, s, "/zookeeper/quota/zookeeper_stats"), "count=7,bytes=13")
	must(t, s, guest(), create("/y"), remove("/zookeeper/quota/zookeeper_limits"),
		create("/zookeeper/zookeeper_limits"), remove("/zookeeper/zookeeper_limits"))
	check.Equal(t, dataOf(t, s, "/zookeeper/quota/zookeeper_stats"), "count=7,bytes=13")
}
