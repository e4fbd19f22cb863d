import { counted } from "../../../util/text/counted.js";
import { findingSentence } from "../../../util/words/finding-sentences.js";
import type { Check, Finding } from "../../check.js";
import type { ProviderAnswer } from "../../provider-answers.js";

/** Each key of a provider, tried with the list of its models, which costs nothing. */
export const providersCheck: Check = {
  name: "providers",
  isLive: true,
  async run({ providers, loaded }, signal) {
    if (providers.names.length === 0)
      return [
        {
          level: "warn",
          found: findingSentence("no_providers"),
          todo: "maxclaw onboard",
        },
      ];
    const { model } = loaded.config.agents.defaults;
    return (await providers.all(signal)).map((answer) => findingOf(answer, model));
  },
};

function findingOf(
  { name, isUsable, hasKey = false, models, error: reason = "", status }: ProviderAnswer,
  wanted: string | undefined,
): Finding {
  if (!isUsable)
    return {
      level: "warn",
      found: findingSentence("provider_lacks", { name }),
      todo: findingSentence("provider_lacks_todo", { name }),
    };
  if (status === 401 || status === 403)
    return {
      level: "fail",
      found: findingSentence("key_refused", { name, reason }),
      todo: findingSentence("key_refused_todo", { name }),
    };
  if (models === undefined && status === undefined)
    return {
      level: "fail",
      found: findingSentence("provider_silent", { name, reason }),
      todo: findingSentence("provider_silent_todo"),
    };
  if (models === undefined)
    return {
      level: "warn",
      found: findingSentence("key_untried", { name, reason }),
      todo: findingSentence("try_model"),
    };
  const plain = wanted?.startsWith(`${name}/`) === true ? wanted.slice(name.length + 1) : undefined;
  // Some offer more than they list, under other names.
  if (plain !== undefined && models.length > 0 && !models.includes(plain))
    return {
      level: "warn",
      found: findingSentence(hasKey ? "model_unlisted_key" : "model_unlisted", { name, model: plain }),
      todo: findingSentence("model_unlisted_todo", { models: models.slice(0, 3).join(", ") }),
    };
  const listed = { name, reason: counted(models.length, "model") };
  return { level: "ok", found: findingSentence(hasKey ? "key_fine" : "provider_fine", listed) };
}
