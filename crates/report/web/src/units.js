// Figures in the units that people read. The data hold bare numbers: nanoseconds, bytes, a second.

const TIMES = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]];
const SIZES = [["B", 1], ["kB", 1e3], ["MB", 1e6], ["GB", 1e9], ["TB", 1e12]];
const BINARY = [["KiB", 1024], ["MiB", 1024 ** 2], ["GiB", 1024 ** 3]];
const NANOSECONDS = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9 };

// A number and its unit are not parted by a line's end.
const SPACE = "\u00a0";

/** `value` with its unit and at most `digits` significant digits. */
export function show(value, unit, digits = 4) {
  if (unit in NANOSECONDS) return scaled(value * NANOSECONDS[unit], TIMES, digits);
  switch (unit) {
    case "bytes":
      return bytes(value, digits);
    case "bytes/s":
      return `${scaled(value, SIZES, digits)}/s`;
    case "/s":
      return `${number(value, digits)}/s`;
    case "ratio":
      return `${number(value, digits)}×`;
    case "percentile":
      return percentile(value);
    case "percent":
    case "%":
      return `${number(value, digits)}${SPACE}%`;
    default:
      return number(value, digits);
  }
}

/** An axis' title; units that its figures do not carry stand in brackets. */
export function title({ label, unit }) {
  const bare = unit && show(1, unit) === number(1) && unit !== label;
  return bare ? `${label} (${unit})` : label;
}

/** `low` to `high`, where both are known. */
export function range(low, high, unit) {
  if (low == null && high == null) return "";
  const end = (value) => (value == null ? "?" : show(value, unit));
  return `${end(low)} to ${end(high)}`;
}

/** Page and blob sizes that are whole KiB are shown so, all others by powers of 1000. */
function bytes(value, digits) {
  const unit = BINARY.findLast(([, size]) => value >= size && value % size === 0);
  return unit ? `${number(value / unit[1], digits)}${SPACE}${unit[0]}` : scaled(value, SIZES, digits);
}

function scaled(value, units, digits) {
  const rounded = Number(Math.abs(value).toPrecision(digits));
  const [name, size] = units.findLast(([, size]) => rounded >= size) ?? units[0];
  return `${number(value / size, digits)}${SPACE}${name}`;
}

const percentile = (value) => (value >= 100 ? "max" : `p${+value.toPrecision(8)}`);

function number(value, digits = 4) {
  if (value !== 0 && Math.abs(value) < 1e-4) return value.toExponential(digits - 1);
  const whole = Math.abs(value) >= 10 ** digits;
  return value.toLocaleString("en-GB", whole
    ? { maximumFractionDigits: 0 }
    : { maximumSignificantDigits: digits });
}
