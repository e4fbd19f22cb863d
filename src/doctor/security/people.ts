import { risksOf } from "../../channels/platforms.js";
import { findingSentence } from "../../util/words/finding-sentences.js";
import type { Check, Finding } from "../check.js";

/** Who may talk to the assistant. */
export const peopleCheck: Check = {
  name: "people",
  readsConfig: true,
  async run({ loaded }) {
    const { channels, policy } = loaded.config;
    const found: Finding[] = Object.keys(channels).flatMap((name) =>
      risksOf(name, channels, "people").map(({ about: _, ...risk }) => risk),
    );
    for (const [at, rule] of policy.rules.entries()) {
      const { tool, verdict, role, sender, argument } = rule;
      const isWide =
        (tool === undefined || tool === "*" || tool === "exec") && (argument === undefined || argument === "*");
      if (verdict === "allow" && isWide && role !== "owner" && sender === undefined)
        found.push({
          level: "fail",
          found: findingSentence(tool === "exec" ? "any_command" : "any_tool", { n: at }),
          todo: findingSentence("any_tool_todo"),
        });
    }
    return found.length > 0 ? found : [{ level: "ok", found: findingSentence("people_fine") }];
  },
};
