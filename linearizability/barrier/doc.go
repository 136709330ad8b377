// Package barrier judges barriers, double barriers and threshold barriers.
package barrier
