// Colours and shapes of series, in light and dark.
// The hues are Okabe and Ito's (https://jfly.uni-koeln.de/color/), shifted until every colour has
// a contrast of 3 against its paper (WCAG 2.2, 1.4.11) and every pair can be distinguished with the three
// kinds of colour blindness; `test/colours.test.js` computes both.

export const SERIES = {
  light: ["#02349c", "#b08f1c", "#02a493", "#821f04", "#046dcf", "#5c2453", "#886803", "#58626f"],
  dark: ["#467ce6", "#f8a900", "#01e0aa", "#df6609", "#7eabe2", "#ae6c88", "#f9f75e", "#b1ffff"],
};

// From little to much: away from the paper's colour, so that much is prominent in both themes.
const RAMP = {
  light: ["#f2f6fb", "#a9c9e8", "#3d7fbf", "#0b3a75"],
  dark: ["#1d2733", "#27507d", "#4f93cf", "#cfe7fb"],
};

const SYMBOLS = ["circle", "diamond", "triangle", "square", "down", "plus", "cross"];
const DASHES = ["solid", [7, 4], [2, 3], [9, 3, 2, 3]];

export const colourOf = (index, theme) => SERIES[theme][index % SERIES[theme].length];

// Seven shapes and eight colours: 56 targets before a pair is repeated.
export const symbolOf = (index) => SYMBOLS[index % SYMBOLS.length];

export const dashOf = (index) => DASHES[index % DASHES.length];

/** The colour at `share` (0 to 1) of the ramp. */
export function rampAt(share, theme) {
  const stops = RAMP[theme];
  const at = Math.min(1, Math.max(0, share)) * (stops.length - 1);
  const below = Math.min(stops.length - 2, Math.floor(at));
  return mix(stops[below], stops[below + 1], at - below);
}

/** Black or white, whichever is easier to read on `colour`. */
export const inkOn = (colour) =>
  contrast(colour, "#000000") > contrast(colour, "#ffffff") ? "#000000" : "#ffffff";

/** The contrast of two colours as WCAG 2.2 defines it, 1 to 21. */
export function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

export function luminance(colour) {
  const [r, g, b] = channels(colour).map((c) => linear(c / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** sRGB's transfer curve (IEC 61966-2-1). */
export const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);

function mix(from, to, share) {
  const end = channels(to);
  const hex = (c, i) => Math.round(c + (end[i] - c) * share).toString(16).padStart(2, "0");
  return `#${channels(from).map(hex).join("")}`;
}

/** Red, green and blue of `#rrggbb` or `rgb(…)`, 0 to 255. */
export function channels(colour) {
  if (colour.startsWith("#")) {
    return [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
  }
  return colour.match(/[\d.]+/g).slice(0, 3).map(Number);
}
