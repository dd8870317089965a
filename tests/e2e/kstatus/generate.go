package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// object is one Kubernetes object as encoding/json writes it. Maps are written with sorted keys, so
// that a seed always gives the same text.
type object = map[string]any

// generate writes the objects of a seed.
func generate(count int, seed uint64, out *json.Encoder) error {
	g := newGenerator(seed)
	for range count {
		if err := out.Encode(g.object()); err != nil {
			return err
		}
	}
	return nil
}

// generator draws objects from one seed.
type generator struct {
	rand *rand.Rand
	// total is the sum of the shapes' weights.
	total int
	// count is how many objects have been drawn: names and uids follow it, so that each is one's own.
	count int
}

func newGenerator(seed uint64) *generator {
	g := &generator{rand: rand.New(rand.NewPCG(seed, 0))}
	for _, s := range shapes {
		g.total += s.weight
	}
	return g
}

// chance is true in so many of a hundred cases.
func (g *generator) chance(percent int) bool { return g.rand.IntN(100) < percent }

func pick[T any](g *generator, choices ...T) T { return choices[g.rand.IntN(len(choices))] }

// object draws a plausible object and changes it in none to three places.
func (g *generator) object() object {
	s := g.shape()
	spec, status := s.fill(g)
	g.count++
	metadata := object{
		"name":              fmt.Sprintf("web-%d", g.count),
		"namespace":         "shop",
		"uid":               fmt.Sprintf("uid-%d", g.count),
		"creationTimestamp": created,
	}
	drawn := object{"apiVersion": s.apiVersion, "kind": s.kind, "metadata": metadata}
	if spec != nil {
		drawn["spec"] = spec
	}
	if status != nil {
		drawn["status"] = status
	}
	g.generations(s, metadata, status)
	for range pick(g, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3) {
		g.mutate(s, drawn)
	}
	return drawn
}

func (g *generator) shape() shape {
	at := g.rand.IntN(g.total)
	for _, s := range shapes {
		if at -= s.weight; at < 0 {
			return s
		}
	}
	panic("the weights add up to the total")
}

// generations sets generation and observedGeneration: mostly equal where the kind has both.
func (g *generator) generations(s shape, metadata, status object) {
	generation := 1 + g.rand.IntN(5)
	if g.chance(90) {
		metadata["generation"] = generation
	}
	if status == nil || s.apiVersion == "v1" && g.chance(70) {
		return
	}
	switch at := g.rand.IntN(100); {
	case at < 85:
		status["observedGeneration"] = generation
	case at < 92:
		status["observedGeneration"] = generation - 1
	case at < 95:
		status["observedGeneration"] = generation + 1
	}
}
