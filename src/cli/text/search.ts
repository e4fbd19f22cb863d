import { z } from "zod";
import { dim, harmless, isColored, print, printNote } from "./output.js";
import { localTime } from "./session.js";

const page = z.object({
  hits: z.array(
    z.object({
      sessionKey: z.string(),
      title: z.string().optional(),
      seq: z.number(),
      who: z.string(),
      at: z.string(),
      snippet: z.string(),
      ranges: z.array(z.tuple([z.number(), z.number()])),
    }),
  ),
  next: z.string().optional(),
  isComplete: z.boolean(),
});

export function printHits(answer: unknown): void {
  const { hits, next, isComplete } = page.parse(answer);
  if (hits.length === 0) print("Nothing was found.");
  for (const { sessionKey, title, seq, who, at, snippet, ranges } of hits) {
    const name = title === undefined ? sessionKey : `${title} (${sessionKey})`;
    print(dim(harmless(`${localTime(at)} · ${who} · ${name} · event ${seq}`), process.stdout));
    print(`  ${marked(snippet, ranges)}`);
  }
  if (next !== undefined) printNote(`There is more: --before ${next}`);
  if (!isComplete) printNote("Older conversations are still being read. Search again in a moment to find all.");
}

/** Bold would need a second way to colour: what is around the words is gray instead. */
function marked(snippet: string, ranges: readonly (readonly [number, number])[]): string {
  if (!isColored(process.stdout)) return harmless(snippet);
  let done = 0;
  let text = "";
  for (const [from, to] of ranges) {
    text += dim(harmless(snippet.slice(done, from)), process.stdout) + harmless(snippet.slice(from, to));
    done = to;
  }
  return text + dim(harmless(snippet.slice(done)), process.stdout);
}
