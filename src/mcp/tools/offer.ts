import { z } from "zod";
import { nearest } from "../../tools/nearest.js";
import { defineTool, failed, type Tool } from "../../tools/tool.js";
import { cutText } from "../../util/text/cut-text.js";

const maxFound = 15;
/** So many of those found come with their schemas. */
const maxSchemas = 3;
const maxLine = 120;

/** How the tools of servers are put before the model. */
export interface Offer {
  /** Those that each request carries. */
  readonly declared: readonly Tool[];
  find(name: string): Tool | undefined;
}

/**
 * All of the tools while their declarations take at most `maxBytes`, else two: one that finds them by words, with their
 * schemas, and one that calls them. Those two depend on the names of the servers alone, so that the bytes of a request's
 * beginning stay the same whatever servers come, go, and change their tools.
 */
export function createOffer(tools: readonly Tool[], servers: readonly string[], maxBytes: number): Offer {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const bytes = tools.reduce((sum, tool) => sum + bytesOf(tool), 0);
  const find = (name: string): Tool | undefined => byName.get(name);
  if (bytes <= maxBytes) return { declared: tools, find };
  return { declared: [callTool(byName), findTool(tools, servers)], find };
}

function bytesOf({ name, description, inputSchema }: Tool): number {
  return Buffer.byteLength(JSON.stringify({ name, description, inputSchema }));
}

function findTool(tools: readonly Tool[], servers: readonly string[]): Tool {
  return defineTool({
    name: "find_tools",
    description: cutText(`Search more tools, of: ${servers.join(", ")}. Gives names and input schemas.`, 600),
    input: z.object({ query: z.string().describe("words, or an exact name") }),
    effect: "read",
    risk: "none",
    origin: "builtin",
    async run({ query }) {
      const found = search(tools, query);
      if (found.length === 0)
        return { text: `No tool matches. All: ${namesOf(tools)}`, isError: false, summary: "found no tools" };
      const lines = found.slice(0, maxFound).map((tool, index) => {
        const schema = index < maxSchemas ? `\n  input: ${JSON.stringify(tool.inputSchema ?? schemaOf(tool))}` : "";
        return `${tool.name}: ${cutText(tool.description, index < maxSchemas ? 400 : maxLine)}${schema}`;
      });
      const more = found.length > maxFound ? [`… and ${found.length - maxFound} more: say it more exactly`] : [];
      return { text: [...lines, ...more].join("\n"), isError: false, summary: `found ${found.length} tools` };
    },
  });
}

const call = z.strictObject({ name: z.string(), input: z.record(z.string(), z.unknown()).optional() });

function callTool(byName: ReadonlyMap<string, Tool>): Tool {
  return defineTool({
    name: "call_tool",
    description: "Call a tool that find_tools has found.",
    input: call,
    effect: "write",
    risk: "none",
    origin: "builtin",
    means(given) {
      const { success, data } = call.safeParse(given);
      return success && byName.has(data.name) ? { name: data.name, input: data.input ?? {} } : undefined;
    },
    // Only comes here for what means nothing.
    async run({ name }) {
      const like = nearest(name, [...byName.keys()]);
      return failed(
        `There is no tool "${cutText(name, 80)}" to call.${like === undefined ? "" : ` Did you mean ${like}?`}`,
      );
    },
  });
}

/** Best first: an exact name, then by how many of the words are in the name and in the description. */
function search(tools: readonly Tool[], query: string): readonly Tool[] {
  const wanted = query.toLowerCase().trim();
  const words = wanted.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 1);
  const scored = tools.map((tool) => ({ tool, score: scoreOf(tool, wanted, words) }));
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ tool }) => tool);
}

function scoreOf({ name, description }: Tool, wanted: string, words: readonly string[]): number {
  if (wanted.split(/[\s,]+/).includes(name)) return 1000;
  const text = description.toLowerCase();
  return words.reduce((sum, word) => sum + (name.includes(word) ? 3 : 0) + (text.includes(word) ? 1 : 0), 0);
}

function namesOf(tools: readonly Tool[]): string {
  return cutText(tools.map(({ name }) => name).join(", "), 4000);
}

function schemaOf(tool: Tool): unknown {
  const { $schema: _, ...schema } = z.toJSONSchema(tool.input, { io: "input", unrepresentable: "any" });
  return schema;
}
