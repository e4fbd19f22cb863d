import { z } from "zod";
import { cutText } from "../../util/cut-text.js";
import { namesOf } from "../../util/untrusted.js";
import { defineTool, type Tool } from "../tool.js";

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
      readonly outside?: string | undefined;
      readonly forGuest?: boolean | undefined;
    }[]
  >;
}

const excerptLength = 600;

/** `isOwners`: only the owner and the assistant have a say in what stands there. */
export function memorySearchTool(past: PastFinder, isOwners: (sourceId: string) => boolean): Tool {
  return defineTool({
    name: "memory_search",
    description: "Search earlier conversations and memory by words.",
    input: z.object({ query: z.string().min(1).max(500), limit: z.number().int().min(1).max(20).optional() }),
    effect: "read",
    risk: "access",
    origin: "builtin",

    async run({ query, limit = 8 }, context) {
      const refusal = await context.permit({ kind: "memory", access: "read" });
      const chat = `${context.channel}:${context.chatId}`;
      // Who may not read the owner's memory still finds what was said in this very chat.
      const isHere = (id: string): boolean => id === chat || id.startsWith(`${chat}:`);
      const allows = (id: string): boolean => refusal === undefined || isHere(id);
      const found = await past.search(query, { limit, allows, signal: context.signal });
      if (found.length === 0) return { text: "Nothing was found.", isError: false, summary: "found nothing" };
      const lines = found.map(
        ({ sourceId, from, text, at }) =>
          `[${at === undefined ? "" : `${new Date(at).toISOString().slice(0, 16)} `}${sourceId}, ${from}] ${excerpt(text, query)}`,
      );
      const labels = found.flatMap(({ sourceId, outside, forGuest }) => [
        ...(outside === undefined ? [] : [outside]),
        ...(!isHere(sourceId) && (forGuest === true || !isOwners(sourceId)) ? [`the conversation ${sourceId}`] : []),
      ]);
      return {
        text: lines.join("\n\n"),
        isError: false,
        summary: `found ${found.length}`,
        ...(labels.length === 0 ? {} : { outside: namesOf(labels) }),
      };
    },
  });
}

/** The piece of a long text in which the first word of the question stands. */
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
