package bankmap

import "math"

// A Color is an sRGB colour.
type Color struct{ R, G, B uint8 }

// viridis samples the colour map of that name (van der Walt and Smith, public domain) at even steps: its lightness rises
// steadily, so that it survives colour blindness and grey printing.
var viridis = [...]Color{
	{0x44, 0x01, 0x54}, {0x47, 0x2d, 0x7b}, {0x3b, 0x52, 0x8b}, {0x2c, 0x72, 0x8e}, {0x21, 0x91, 0x8c},
	{0x28, 0xae, 0x80}, {0x5e, 0xc9, 0x62}, {0xad, 0xdc, 0x30}, {0xfd, 0xe7, 0x25},
}

// PassColor returns the colour of pass i of n in the order served: the first is light, the last dark.
func PassColor(i, n int) Color {
	const light, dark = 0.92, 0.1 // leave out the ends, which vanish on white and on black
	t := 0.6
	if n > 1 {
		t = light + float64((dark-light)*float64(i)/float64(n-1))
	}
	at := t * float64(len(viridis)-1)
	k := min(int(at), len(viridis)-2)
	part := at - float64(k)
	a, b := viridis[k], viridis[k+1]
	return Color{mix(a.R, b.R, part), mix(a.G, b.G, part), mix(a.B, b.B, part)}
}

func mix(a, b uint8, part float64) uint8 {
	// The conversion keeps the product from being fused into the sum, which would round differently on some machines.
	return uint8(math.Round(float64(a) + float64((float64(b)-float64(a))*part)))
}

// Luminance returns the relative luminance of WCAG 2, from 0 to 1.
func (c Color) Luminance() float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

// Ink returns black or white, whichever reads better on c. The contrast is at least 4.58 to 1.
func (c Color) Ink() Color {
	// Contrast with white is 1.05/(l+0.05), with black (l+0.05)/0.05; they are equal where (l+0.05)^2 = 0.0525.
	if l := c.Luminance() + 0.05; l*l > 1.05*0.05 {
		return Color{}
	}
	return Color{255, 255, 255}
}

// ansi returns the nearest colour of the 6x6x6 cube of a 256-colour terminal.
func (c Color) ansi() int {
	level := func(v uint8) int { // the levels are 0, 95, 135, 175, 215, 255
		if v < 48 {
			return 0
		}
		if v < 115 {
			return 1
		}
		return int(v-35) / 40
	}
	return 16 + 36*level(c.R) + 6*level(c.G) + level(c.B)
}
