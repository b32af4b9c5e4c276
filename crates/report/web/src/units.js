// Figures in the units that people read. The data has plain numbers: nanoseconds, bytes, a second.

const TIMES = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]];
const SIZES = [["B", 1], ["kB", 1e3], ["MB", 1e6], ["GB", 1e9], ["TB", 1e12]];
const BINARY = [["KiB", 1024], ["MiB", 1024 ** 2], ["GiB", 1024 ** 3]];

// A line never ends between a number and its unit.
const SPACE = "\u00a0";

/** `value` with its unit, to `digits` significant digits. */
export function show(value, unit, digits = 4) {
  switch (unit) {
    case "nanoseconds":
      return scaled(value, TIMES, digits);
    case "bytes":
      return bytes(value, digits);
    case "bytes-per-second":
      return `${scaled(value, SIZES, digits)}/s`;
    case "per-second":
      return `${number(value, digits)}/s`;
    case "ratio":
      return `${number(value, digits)}×`;
    case "time-ratio":
      return faster(value, digits);
    case "percentile":
      return percentile(value);
    default:
      return plain(value);
  }
}

/** The same as short as possible, for an axis. */
export const tick = (value, unit) =>
  value === 0 ? "0" : shortest(unit === "time-ratio" ? `${number(inverse(value), 3)}×` : show(value, unit, 3));

const shortest = (shown) => shown.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");

/** `low` to `high`, with "?" for an end that is not known. */
export function range(low, high, unit) {
  if (low == null && high == null) return "";
  if (unit === "time-ratio" && low > 0 && high <= 1) {
    return `${number(1 / high, 4)} to ${show(low, unit)}`;
  }
  const end = (value) => (value == null ? "?" : show(value, unit));
  return `${end(low)} to ${end(high)}`;
}

/** Whole KiB are shown as KiB, unless they are whole kB as well: 4 KiB, but 256 kB. */
function bytes(value, digits) {
  const unit = value % 1000 === 0 ? null
    : BINARY.findLast(([, size]) => value >= size && value % size === 0);
  return unit ? `${plain(value / unit[1])}${SPACE}${unit[0]}` : scaled(value, SIZES, digits, 1);
}

function scaled(value, units, digits, least = digits) {
  const rounded = Number(Math.abs(value).toPrecision(digits));
  const [name, size] = units.findLast(([, size]) => rounded >= size) ?? units[0];
  return `${number(value / size, digits, least)}${SPACE}${name}`;
}

/** A ratio of times as the text says it: `3.7× faster`. */
const faster = (value, digits) => {
  if (value === 1) return "1×";
  return `${number(inverse(value), digits)}× ${value < 1 ? "faster" : "slower"}`;
};

const inverse = (value) => (value > 0 && value < 1 ? 1 / value : value);

const percentile = (value) => (value >= 100 ? "max" : `p${+value.toPrecision(8)}`);

const plain = (value) => value.toLocaleString("en-GB", { maximumSignificantDigits: 6 });

/** At most `digits` significant digits, but never fewer than the whole ones; at least `least`. */
function number(value, digits, least = digits) {
  if (value !== 0 && Math.abs(value) < 1e-4) return value.toExponential(digits - 1);
  const whole = Math.abs(value) >= 10 ** digits;
  return value.toLocaleString("en-GB", whole
    ? { maximumFractionDigits: 0 }
    : { minimumSignificantDigits: least, maximumSignificantDigits: digits });
}
