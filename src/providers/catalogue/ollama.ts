import { z } from "zod";
import { linked } from "../../util/async/linked.js";

const tags = z.object({
  models: z.array(
    z.object({
      name: z.string(),
      details: z.object({ family: z.string().nullish() }).nullish(),
    }),
  ),
});

export interface LocalOllama {
  /** The model used last. */
  readonly model: string;
  /** Of its OpenAI-compatible interface. */
  readonly apiBase: string;
}

/**
 * Looks for an Ollama on this machine that has a model that can talk. Undefined when there is none or it does not answer
 * in time; throws nothing. For use only when no provider is configured.
 */
export async function findLocalOllama(
  options: { readonly address?: string; readonly timeoutMs?: number },
  signal: AbortSignal,
): Promise<LocalOllama | undefined> {
  const address = options.address ?? "http://127.0.0.1:11434";
  using scope = linked(signal, options.timeoutMs ?? 150);
  try {
    const response = await fetch(`${address}/api/tags`, { signal: scope.signal, redirect: "error" });
    const found = tags.safeParse(await response.json());
    const talker = found.data?.models.find(
      ({ name, details }) => !/embed|bert/i.test(`${name} ${details?.family ?? ""}`),
    );
    return talker === undefined ? undefined : { model: talker.name, apiBase: `${address}/v1` };
  } catch {
    // No server, too slow, or something else on that port: all mean that there is no Ollama to use.
    return undefined;
  }
}
