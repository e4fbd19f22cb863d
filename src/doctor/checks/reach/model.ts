import { silentLog } from "../../../log.js";
import { createModels } from "../../../providers/catalogue/models.js";
import { findingSentence } from "../../../util/words/finding-sentences.js";
import type { Check } from "../../check.js";

/** A real answer of the model, as short as can be. */
export const modelCheck: Check = {
  name: "model",
  isLive: true,
  limitMs: 90_000,
  async run({ asksModel, loaded }, signal) {
    if (!asksModel) return [];
    const { providers, agents, prices } = loaded.config;
    const models = createModels({ providers, defaults: agents.defaults, prices, log: silentLog });
    const from = performance.now();
    const { provider, model, label } = await models.choose(undefined, signal);
    let text = "";
    const request = {
      model,
      system: "",
      messages: [{ role: "user", content: [{ type: "text", text: "Answer with the one word: ok" }] }],
      tools: [],
      maxTokens: 16,
    } as const;
    try {
      for await (const chunk of provider.stream(request, signal)) if (chunk.kind === "text") text += chunk.text;
    } catch (error) {
      signal.throwIfAborted();
      const said = error instanceof Error ? error.message : String(error);
      return [
        {
          level: "fail",
          found: findingSentence("provider_silent", { name: label, reason: said }),
          todo: findingSentence("model_silent_todo"),
        },
      ];
    }
    const ms = Math.round(performance.now() - from);
    // Some think first, and have no words left for an answer.
    const said = text.trim().slice(0, 40);
    const found =
      said === ""
        ? findingSentence("model_wordless", { label, ms })
        : findingSentence("model_fine", { label, reason: said, ms });
    return [{ level: "ok", found }];
  },
};
