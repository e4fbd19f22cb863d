import { counted } from "../../../util/text/counted.js";
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
          found: "No provider is configured: a local Ollama answers, or the offline stand-in",
          todo: "maxclaw onboard",
        },
      ];
    const { model } = loaded.config.agents.defaults;
    return (await providers.all(signal)).map((answer) => findingOf(answer, model));
  },
};

function findingOf(
  { name, isUsable, hasKey, models, error, status }: ProviderAnswer,
  wanted: string | undefined,
): Finding {
  if (!isUsable)
    return {
      level: "warn",
      found: `${name} cannot be used: it lacks a key or an address`,
      todo: `Set providers.${name}.apiKey`,
    };
  if (status === 401 || status === 403)
    return {
      level: "fail",
      found: `${name} refuses the key: ${error}`,
      todo: `Put a valid key into providers.${name}.apiKey`,
    };
  if (models === undefined && status === undefined)
    return {
      level: "fail",
      found: `${name} does not answer: ${error}`,
      todo: "Check the network, and the address of the provider",
    };
  if (models === undefined)
    return {
      level: "warn",
      found: `${name} answers, but its key could not be tried: ${error}`,
      todo: "Try it: maxclaw doctor --model",
    };
  const answers = hasKey ? "takes the key" : "answers";
  const plain = wanted?.startsWith(`${name}/`) === true ? wanted.slice(name.length + 1) : undefined;
  // Some offer more than they list, under other names.
  if (plain !== undefined && models.length > 0 && !models.includes(plain))
    return {
      level: "warn",
      found: `${name} ${answers}, but does not list the model ${plain}`,
      todo: `It lists e.g. ${models.slice(0, 3).join(", ")}. Try it: maxclaw doctor --model`,
    };
  return { level: "ok", found: `${name} ${answers} and lists ${counted(models.length, "model")}` };
}
