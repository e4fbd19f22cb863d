import fc from "fast-check";

/** Something that a bad disk, a bad cable or a bad program does to a file. `at` and `to` are parts of its length. */
export type Damage =
  | { readonly kind: "flip"; readonly at: number; readonly mask: number }
  | { readonly kind: "zero" | "remove" | "repeat"; readonly at: number; readonly length: number }
  | { readonly kind: "insert"; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: "removeLines" | "repeatLines"; readonly at: number; readonly count: number }
  | { readonly kind: "swapLines"; readonly at: number; readonly to: number }
  | { readonly kind: "truncate"; readonly at: number };

const part = fc.noBias(fc.integer({ min: 0, max: 99_999 })).map((n) => n / 100_000);
const length = fc.integer({ min: 1, max: 700 });
const count = fc.integer({ min: 1, max: 3 });
export const damages: fc.Arbitrary<Damage> = fc.oneof(
  fc.record({ kind: fc.constant("flip"), at: part, mask: fc.integer({ min: 1, max: 255 }) }),
  fc.record({ kind: fc.constantFrom("zero", "remove", "repeat"), at: part, length }),
  fc.record({ kind: fc.constant("insert"), at: part, bytes: fc.uint8Array({ minLength: 1, maxLength: 80 }) }),
  fc.record({ kind: fc.constantFrom("removeLines", "repeatLines"), at: part, count }),
  fc.record({ kind: fc.constant("swapLines"), at: part, to: part }),
  fc.record({ kind: fc.constant("truncate"), at: part }),
) as fc.Arbitrary<Damage>;

export function inflict(bytes: Buffer, damage: Damage): Buffer {
  const at = Math.floor(damage.at * bytes.length);
  const spliced = (removed: number, added: Uint8Array): Buffer =>
    Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removed)]);
  switch (damage.kind) {
    case "flip": {
      const copy = Buffer.from(bytes);
      if (copy.length > 0) copy[at] = (copy[at] ?? 0) ^ damage.mask;
      return copy;
    }
    case "zero":
      return Buffer.from(bytes).fill(0, at, Math.min(bytes.length, at + damage.length));
    case "remove":
      return spliced(damage.length, Buffer.alloc(0));
    case "repeat":
      return spliced(0, bytes.subarray(at, at + damage.length));
    case "insert":
      return spliced(0, damage.bytes);
    case "truncate":
      return bytes.subarray(0, at);
    case "removeLines":
    case "repeatLines": {
      const lines = linesOf(bytes);
      const index = Math.floor(damage.at * lines.length);
      if (damage.kind === "removeLines") lines.splice(index, damage.count);
      else lines.splice(index, 0, ...lines.slice(index, index + damage.count));
      return Buffer.concat(lines);
    }
    case "swapLines": {
      const lines = linesOf(bytes);
      const [one, other] = [Math.floor(damage.at * lines.length), Math.floor(damage.to * lines.length)];
      [lines[one], lines[other]] = [lines[other] ?? Buffer.alloc(0), lines[one] ?? Buffer.alloc(0)];
      return Buffer.concat(lines);
    }
  }
}

function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const lf = bytes.indexOf(10, start);
    const end = lf === -1 ? bytes.length : lf + 1;
    lines.push(bytes.subarray(start, end));
    start = end;
  }
  return lines;
}
