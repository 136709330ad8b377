package museum

import "github.com/zksim/zksim/recipes"

func noSuchService() Exhibit {
	return Exhibit{
		ID: "S4-19", Title: "a service that nobody knows",
		Report: curatorCaches,
		Bug: "The addresses of a service are looked up in a map. Of a service that has none yet, or none any more, there is no " +
			"list, not even an empty one, and the caller goes through it all the same.",
		Property: "panic",
		Wrong: registryOf(func(r *registry) {
			r.show = func(all []recipes.Instance) (shown []recipes.Instance) {
				services := map[string]*[]recipes.Instance{}
				for _, i := range all {
					if services[i.Service] == nil {
						services[i.Service] = new([]recipes.Instance)
					}
					*services[i.Service] = append(*services[i.Service], i)
				}
				for _, name := range []string{"mail", "web"} {
					shown = append(shown, *services[name]...) // wrong: it may be nil
				}
				return shown
			}
		}),
		Right: registryOf(nil),
	}
}
