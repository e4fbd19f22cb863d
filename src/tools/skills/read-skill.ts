import { z } from "zod";
import { cutText } from "../../util/text/cut-text.js";
import { defineTool, failed } from "../tool.js";

export const readSkillTool = defineTool({
  name: "read_skill",
  description: "Read the full text of a listed skill before doing what it is for.",
  input: z.object({ name: z.string() }),
  effect: "read",
  risk: "none",
  origin: "builtin",

  async run({ name }, context) {
    const wanted = name.trim().replace(/^(?:@skill:|\$)/i, "");
    const text = await context.agent.readSkill(wanted);
    if (text === undefined) return failed(`There is no skill "${cutText(wanted, 80)}".`);
    return { text, isError: false, summary: `read skill ${wanted}` };
  },
});
