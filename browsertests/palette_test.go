package browsertests

import (
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"slices"
)

// paletted keeps the 256 most frequent colours of a picture and replaces the others by the nearest of them. What is lost are
// some shades at the edges of letters; a screenshot becomes a third as large.
func paletted(picture image.Image) *image.Paletted {
	bounds := picture.Bounds()
	full := image.NewRGBA(bounds)
	draw.Draw(full, bounds, picture, bounds.Min, draw.Src)
	count := map[color.RGBA]int{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			count[full.RGBAAt(x, y)]++
		}
	}
	var colours []color.RGBA
	for c := range count {
		colours = append(colours, c)
	}
	slices.SortFunc(colours, func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var palette color.Palette
	for _, c := range colours[:min(len(colours), 256)] {
		palette = append(palette, c)
	}
	nearest := map[color.RGBA]uint8{}
	for _, c := range colours {
		nearest[c] = uint8(palette.Index(c))
	}
	out := image.NewPaletted(bounds, palette)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			out.SetColorIndex(x, y, nearest[full.RGBAAt(x, y)])
		}
	}
	return out
}
