const beyond = /(\\*)([^\0-\x7f])/g;
const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/**
 * Writes all characters beyond ASCII as escapes: V8 keeps a file that has one other character with two bytes for each of its
 * characters, as long as the program runs, and reads it more slowly.
 */
export function asciiOnly() {
  return {
    name: "ascii-only",
    generateBundle(_options, bundle) {
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type !== "chunk") continue;
        const { code, moved } = toAscii(file.code);
        if (moved.size === 0) continue;
        file.code = code;
        const map = bundle[`${name}.map`];
        if (map === undefined) continue;
        const { mappings, ...rest } = JSON.parse(map.source);
        map.source = JSON.stringify({ ...rest, mappings: shifted(mappings, moved) });
      }
    },
  };
}

/** `moved`: for each line of it, after which columns everything stands further to the right, and by how much. */
export function toAscii(code) {
  if (/String\.raw`[^`]*[^\0-\x7f]/.test(code))
    throw new Error("String.raw shows an escape as it is written: write it otherwise");
  const moved = new Map();
  const lines = code.split("\n").map((line, number) => {
    const places = [];
    const written = line.replace(beyond, (all, slashes, character, at) => {
      // An escaped character that needs no escape.
      const kept = slashes.length % 2 === 1 ? slashes.slice(1) : slashes;
      const escaped = `${kept}\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
      places.push({ after: at + all.length, by: escaped.length - all.length });
      return escaped;
    });
    if (places.length > 0) moved.set(number, places);
    return written;
  });
  return { code: lines.join("\n"), moved };
}

/** The mappings of a source map, where the columns of some lines have moved. */
export function shifted(mappings, moved) {
  const lines = mappings.split(";");
  for (const [number, places] of moved) lines[number] = shiftedLine(lines[number] ?? "", places);
  return lines.join(";");
}

function shiftedLine(line, places) {
  let column = 0;
  let written = 0;
  let next = 0;
  let by = 0;
  return line
    .split(",")
    .map((segment) => {
      if (segment === "") return segment;
      const { value, length } = decode(segment);
      column += value;
      for (; places[next] !== undefined && places[next].after <= column; next++) by += places[next].by;
      const first = encode(column + by - written);
      written = column + by;
      return first + segment.slice(length);
    })
    .join(",");
}

/** The first number of a segment, and how many of its characters it takes. */
function decode(segment) {
  let value = 0;
  for (let at = 0; ; at++) {
    const digit = digits.indexOf(segment[at]);
    value += (digit & 31) * 2 ** (5 * at);
    if ((digit & 32) === 0) return { value: value % 2 === 1 ? -(value - 1) / 2 : value / 2, length: at + 1 };
  }
}

function encode(value) {
  let left = value < 0 ? -value * 2 + 1 : value * 2;
  let text = "";
  do {
    const digit = left % 32;
    left = Math.floor(left / 32);
    text += digits[left > 0 ? digit + 32 : digit];
  } while (left > 0);
  return text;
}
