package shards

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rhysd/actionlint"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

// job reads a manifest as Kubernetes does with --validate=strict.
func job(manifest []byte) (j batchv1.Job, err error) {
	err = yaml.UnmarshalStrict(manifest, &j)
	return j, err
}

func TestJobIsOneOfKubernetes(t *testing.T) {
	manifest := read(t, "job.yaml")
	j, err := job(manifest)
	if err != nil {
		t.Fatal(err)
	}
	if j.APIVersion != batchv1.SchemeGroupVersion.String() || j.Kind != "Job" ||
		j.Spec.CompletionMode == nil || *j.Spec.CompletionMode != batchv1.IndexedCompletion {
		t.Errorf("no indexed Job: %+v", j)
	}
	if shards := strconv.Itoa(int(*j.Spec.Completions)); !strings.Contains(args(j),
		"/"+shards+" ") {
		t.Errorf("%s completions, and another number of shards: %s", shards, args(j))
	}
	wrong := bytes.Replace(manifest, []byte("backoffLimitPerIndex"), []byte("backoffPerIndex"), 1)
	if _, err := job(wrong); err == nil {
		t.Error("a field that Kubernetes does not have is no error")
	}
}

func TestWorkflowIsOneOfGitHub(t *testing.T) {
	workflow := read(t, "workflow.yml")
	if found := lint(t, workflow); len(found) > 0 {
		t.Errorf("%v", found)
	}
	if wrong := bytes.Replace(workflow, []byte("matrix.shard }}"), []byte("matrix.part }}"),
		1); len(
		lint(t, wrong)) == 0 {
		t.Error("a variable that the matrix does not have is no error")
	}
}

func lint(t *testing.T, workflow []byte) []*actionlint.Error {
	t.Helper()
	linter, err := actionlint.NewLinter(&bytes.Buffer{}, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := linter.Lint("workflow.yml", workflow, nil)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestPodsSayWhatOneProcessSays plays the command of each pod, with fewer scenarios and the zksim
// of this tree, and merges what they print.
func TestPodsSayWhatOneProcessSays(t *testing.T) {
	j, err := job(read(t, "job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	zksim := filepath.Join(dir, "zksim")
	run(t, nil, "go", "build", "-C", "../..", "-o", zksim, "./cmd/zksim")
	command := strings.NewReplacer(
		"go install github.com/zksim/zksim/cmd/zksim@latest", "test -x "+zksim,
		"exec zksim", "exec "+zksim, "--runs 400000", "--runs 62 --clients 1 --rounds 1",
		"/reports/", dir+"/",
	).Replace(args(j))
	merge := []string{"merge"}
	for index := range int(*j.Spec.Completions) {
		run(t, []string{"JOB_COMPLETION_INDEX=" + strconv.Itoa(index)},
			j.Spec.Template.Spec.Containers[0].Command[0], "-c", command)
		merge = append(merge, filepath.Join(dir, strconv.Itoa(index)+".json"))
	}
	merged := untimed(run(t, nil, zksim, merge...))
	whole := untimed(run(t, nil, zksim, "fuzz", "all", "--runs", "62", "--clients", "1",
		"--rounds", "1", "--json"))
	if !bytes.Equal(merged, whole) {
		t.Errorf("merged:\n%s\none process:\n%s", merged, whole)
	}
}

// TestMergeOfWorkflowSaysWhatOneProcessSays plays the commands of both jobs of the workflow, with
// fewer scenarios and the zksim of this tree, and carries the artifact of each shard to the other
// job. Not played are the tests.
func TestMergeOfWorkflowSaysWhatOneProcessSays(t *testing.T) {
	var w struct {
		Jobs map[string]struct {
			Strategy struct{ Matrix struct{ Shard []int } }
			Steps    []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal(read(t, "workflow.yml"), &w); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	zksim := filepath.Join(dir, "zksim")
	run(t, nil, "go", "build", "-C", "../..", "-o", zksim, "./cmd/zksim")
	const few = "--runs 62 --clients 1 --rounds 1"
	play := func(job, where string, env ...string) {
		for _, step := range w.Jobs[job].Steps {
			command := strings.NewReplacer("go build -o zksim ./cmd/zksim", "cp "+zksim+" .",
				"go test -count=1 ./...", "true", "--runs 40000", few).Replace(step.Run)
			run(t, env, "bash", "-e", "-o", "pipefail", "-c", "cd "+where+"; "+command)
		}
	}
	merge := filepath.Join(dir, "merge")
	for _, shard := range w.Jobs["hunt"].Strategy.Matrix.Shard {
		number := strconv.Itoa(shard)
		runner, artifact := filepath.Join(dir, number), filepath.Join(merge, "shards", "shard-"+number)
		run(t, nil, "mkdir", "-p", runner, filepath.Dir(artifact))
		play("hunt", runner, "ZKSIM_SEED=7", "ZKSIM_SHARD="+number+"/4")
		run(t, nil, "mv", filepath.Join(runner, "shard"), artifact)
	}
	play("merge", merge)
	whole := untimed(run(t, nil, zksim, append(strings.Fields("fuzz all --seed 7 --json "+few),
		"--corpus", filepath.Join(dir, "corpus"))...))
	if merged := untimed(read(t, filepath.Join(merge, "shard/report.json"))); !bytes.Equal(merged,
		whole) {
		t.Errorf("merged:\n%s\none process:\n%s", merged, whole)
	}
	if kept, err := os.ReadDir(filepath.Join(merge, "shard/corpus")); err != nil || len(kept) == 0 {
		t.Errorf("the corpora have %d scenarios: %v", len(kept), err)
	}
}

// TestPodIsTriedAgain unless it has found something: one that is evicted, one with a full disk, and
// in vain one with wrong input.
func TestPodIsTriedAgain(t *testing.T) {
	j, err := job(read(t, "job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	zksim := filepath.Join(t.TempDir(), "zksim")
	run(t, nil, "go", "build", "-C", "../..", "-o", zksim, "./cmd/zksim")
	final := j.Spec.PodFailurePolicy.Rules[1].OnExitCodes.Values
	for name, pod := range map[string]struct {
		hunt    string
		evicted bool
	}{
		"evicted": {"fuzz all --runs 400000 --json", true},
		"finding": {"fuzz lock --impl zk.Lock --runs 50 --json", false},
		"wrong":   {"fuzz no-such-workload --json", false},
		"disk":    {"fuzz lock --runs 4 --json >/dev/full", false},
	} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", "exec "+zksim+" "+pod.hunt)
		cmd.Env = append(os.Environ(), "ZKSIM_SHARD=1/4")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if pod.evicted {
			time.Sleep(time.Second)
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
		if err := cmd.Wait(); err == nil {
			t.Errorf("%s: the pod succeeds", name)
		}
		status := int32(cmd.ProcessState.ExitCode())
		if failed := slices.Contains(final, status); failed != (name == "finding") {
			t.Errorf("%s: status %d fails the index: %v", name, status, failed)
		}
	}
}

// untimed is a report without the time that it took.
func untimed(report []byte) []byte {
	return regexp.MustCompile(`\n *"seconds": .*`).ReplaceAll(report, nil)
}

// args is the shell command of the pods.
func args(j batchv1.Job) string { return j.Spec.Template.Spec.Containers[0].Args[0] }

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// run is the output of a command, in this environment and more.
func run(t *testing.T, env []string, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v", name, args, err)
	}
	return out
}
