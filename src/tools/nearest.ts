import { cutText } from "../util/text/cut-text.js";
import { plain, suggest } from "../util/text/suggest.js";

/** The candidate that is most like `name`, if one is like it at all. */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  // Models are further off than fingers: half of the letters may differ.
  return suggest(name, candidates, Math.max(2, Math.floor(plain(name).length / 2)));
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
