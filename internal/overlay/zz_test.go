package overlay
import ("testing";"os";"strings")
func TestZZ(t *testing.T){
 for _, g := range strings.Fields(os.Getenv("ROOTS")) {
  parts := strings.Split(g, "=")
  r, err := Make(parts[1], parts[0], "/tmp/ovx/cache")
  if err != nil { t.Error(g, err); continue }
  f, err := Write(r, "", "/tmp/ovx/cache")
  t.Log(f, err)
  os.WriteFile("/tmp/ovx/"+parts[0]+".txt", []byte(f), 0o666)
 }
}
