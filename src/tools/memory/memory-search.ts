import { z } from "zod";
import { cutText } from "../../util/text/cut-text.js";
import { namesOf } from "../../util/text/untrusted.js";
import { defineTool, failed, type Tool, type ToolContext } from "../tool.js";

/** What the tool looks for things in. */
export interface PastFinder {
  search(
    query: string,
    options: { readonly limit: number; readonly allows: (sourceId: string) => boolean; readonly signal: AbortSignal },
  ): Promise<
    readonly {
      readonly sourceId: string;
      readonly from: string;
      readonly text: string;
      readonly at?: number;
      /** Where the passage came from when others had a hand in it. */
      readonly outside?: string | undefined;
    }[]
  >;
}

/** What a call may find. */
export interface SearchScope {
  readonly of: "owner" | "chat";
  /** Of the conversation or file that a passage comes from. */
  readonly allows: (sourceId: string) => boolean;
  /** What it is, where others than those who are here now have a say in what is there. */
  readonly outsideOf: (sourceId: string) => string | undefined;
}

const excerptLength = 600;

const input = z.object({ query: z.string().min(1).max(500), limit: z.number().int().min(1).max(20).optional() });

export function memorySearchTool(past: PastFinder, scopeOf: (context: ToolContext) => SearchScope): Tool {
  return defineTool({
    name: "memory_search",
    description: "Search earlier conversations and memory by words.",
    input,
    effect: "read",
    risk: "access",
    origin: "builtin",

    async run({ query, limit = 8 }, context) {
      const { of, allows, outsideOf } = scopeOf(context);
      const refusal = await context.permit({ kind: "memory", access: "read", of });
      if (refusal !== undefined) return failed(refusal);
      const found = await past.search(query, { limit, allows, signal: context.signal });
      if (found.length === 0) return { text: "Nothing was found.", isError: false, summary: "found nothing" };
      const lines = found.map(
        ({ sourceId, from, text, at }) =>
          `[${at === undefined ? "" : `${new Date(at).toISOString().slice(0, 16)} `}${sourceId}, ${from}] ${excerpt(text, query)}`,
      );
      const outside = found.flatMap((one) => one.outside ?? outsideOf(one.sourceId) ?? []);
      return {
        text: lines.join("\n\n"),
        isError: false,
        summary: `found ${found.length}`,
        ...(outside.length === 0 ? {} : { outside: namesOf(outside) }),
      };
    },
  });
}

/** The piece of a long text in which the first word of the question is. */
function excerpt(text: string, query: string): string {
  if (text.length <= excerptLength) return text;
  const lower = text.toLowerCase();
  const at = query
    .toLowerCase()
    .split(/\s+/)
    .map((word) => lower.indexOf(word))
    .find((index) => index >= 0);
  const from = Math.max(0, (at ?? 0) - excerptLength / 3);
  return `${from > 0 ? "… " : ""}${cutText(text.slice(from), excerptLength)}`;
}
