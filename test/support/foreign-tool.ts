import { z } from "zod";
import { defineTool } from "../../src/tools/tool.js";

/** A tool of which nobody knows what it does, so that its owner is asked first. `done` gets what it was called with. */
export function foreignTool(done: string[]) {
  return defineTool({
    name: "foreign_do",
    description: "",
    input: z.object({ a: z.string() }),
    effect: "write",
    risk: "call",
    origin: "builtin",
    async run({ a }) {
      done.push(a);
      return { text: `did ${a}`, isError: false, summary: "" };
    },
  });
}
