// How numbers are written: thousands apart, shares in per cent, times in the unit that suits them. A missing value is a dash.
(() => {
  "use strict";

  const DASH = "–";
  const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
  const grouped = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 6 });

  function missing(value) {
    return value === null || value === undefined || !Number.isFinite(value);
  }

  /** Something counted: 819,200. */
  function count(value) {
    return missing(value) ? DASH : whole.format(value);
  }

  /** Something measured, with four digits or so: 0.01452. */
  function measure(value) {
    if (missing(value)) return DASH;
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size < 1e-4 || size >= 1e9) return value.toExponential(2);
    return grouped.format(Number(value.toPrecision(size >= 1e4 ? 6 : 4)));
  }

  /** A share: 98.4 %. */
  function share(value) {
    return missing(value) ? DASH : `${(100 * value).toFixed(1)} %`;
  }

  /** A number on an axis: 1.2 M. */
  function short(value) {
    const size = Math.abs(value);
    const in_unit = (unit, name) => `${Number((value / unit).toPrecision(4))} ${name}`;
    if (size >= 1e6) return in_unit(1e6, "M");
    if (size >= 1e4) return in_unit(1e3, "k");
    return String(Number(value.toPrecision(6)));
  }

  /** A time: 2.1 ms, 25.8 s, 3 min 04 s, 1 h 05 min. */
  function duration(seconds) {
    if (missing(seconds)) return DASH;
    if (seconds === 0) return "0 s";
    if (seconds < 0.001) return `${Number((1e6 * seconds).toPrecision(2))} µs`;
    if (seconds < 1) return `${Number((1000 * seconds).toPrecision(3))} ms`;
    if (seconds < 60) return `${Number(seconds.toPrecision(3))} s`;
    const two = (number) => String(number).padStart(2, "0");
    const all = Math.round(seconds);
    if (all < 3600) return `${Math.floor(all / 60)} min ${two(all % 60)} s`;
    return `${Math.floor(all / 3600)} h ${two(Math.floor((all % 3600) / 60))} min`;
  }

  /** The size of a file: 12.3 kB. */
  function bytes(value) {
    if (missing(value)) return DASH;
    if (value < 1000) return `${value} B`;
    if (value < 1e6) return `${(value / 1e3).toFixed(1)} kB`;
    return `${(value / 1e6).toFixed(1)} MB`;
  }

  /** `1 edge`, `2 edges`. */
  function plural(number, one, many = `${one}s`) {
    return `${count(number)} ${number === 1 ? one : many}`;
  }

  report.numbers = { count, measure, share, short, duration, bytes, plural, missing };
})();
