import type { Config } from "../config/schema.js";
import { ProviderAnswers } from "../doctor/provider-answers.js";

/** The result of a try with a provider's key. */
export type ProviderTrial =
  | { readonly kind: "ok"; readonly models: readonly string[] }
  /** `refused`: the key is wrong. `unreached`: nobody answered. `unclear`: something else than a list of models came. */
  | { readonly kind: "refused" | "unreached" | "unclear"; readonly reason: string }
  /** It has no key or no address yet. */
  | { readonly kind: "incomplete" };

/** Asks the provider of this name for its models, which costs nothing. */
export async function tryProvider(
  name: string,
  providers: Config["providers"],
  signal: AbortSignal,
): Promise<ProviderTrial> {
  const settings = providers[name];
  const own = settings === undefined ? {} : { [name]: settings };
  const [answer] = await new ProviderAnswers(own, Date.now).all(signal);
  signal.throwIfAborted();
  if (answer?.isUsable !== true) return { kind: "incomplete" };
  const { models, status, error: reason = "it gave no reason" } = answer;
  if (models !== undefined) return { kind: "ok", models };
  if (status === undefined) return { kind: "unreached", reason };
  return { kind: status === 401 || status === 403 ? "refused" : "unclear", reason };
}
