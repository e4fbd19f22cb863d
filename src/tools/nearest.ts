import { cutText } from "../util/text/cut-text.js";

/** The candidate that is most like `name`, if one is like it at all. */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  const wanted = plain(name);
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: distance(wanted, plain(candidate)) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best && best.distance <= Math.max(2, Math.floor(wanted.length / 2)) ? best.candidate : undefined;
}

/** A field that a tool does not take, by its path, and those that it takes there. */
export interface UnknownField {
  readonly path: string;
  readonly known: readonly string[];
}

/** A clause for the model. Below the top it names all fields that there are. */
export function unknownText({ path, known }: UnknownField): string {
  const like = nearest(path.slice(path.lastIndexOf(".") + 1), known);
  const hint = like === undefined ? "" : ` (did you mean \`${like}\`?)`;
  const there = path.includes(".") && known.length > 0 ? `; there are ${known.join(", ")}` : "";
  return `\`${cutText(path, 80)}\` is not a field${hint}${there}`;
}

function plain(name: string): string {
  return name
    .slice(0, 64)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "");
}

/** Insertions, deletions and replacements between two short words. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
