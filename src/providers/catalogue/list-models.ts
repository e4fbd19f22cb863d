import { z } from "zod";
import { linked } from "../../util/async/linked.js";
import { withoutSlashes } from "../../util/text/trim-where.js";
import { whyUnreached } from "../../util/text/why-unreached.js";

export interface ModelsAddress {
  readonly apiBase: string;
  readonly apiFormat: "openai" | "anthropic";
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Where a list is given to anybody: what refuses a wrong key. */
  readonly keyPath?: string | undefined;
}

const limitMs = 10_000;
const maxBytes = 4 * 1024 * 1024;
const listing = z.object({
  data: z.array(z.object({ id: z.string(), name: z.string().nullish(), display_name: z.string().nullish() })),
});

/**
 * The models that a provider offers to this key. `onAnswer` sees the status and the headers of whatever it answers.
 *
 * @throws {Error} with one sentence: what the provider said, without the key
 */
export async function listModels(
  address: ModelsAddress,
  signal: AbortSignal,
  onAnswer?: (response: Response) => void,
): Promise<readonly { readonly id: string; readonly name: string }[]> {
  const { apiKey } = address;
  const isAnthropic = address.apiFormat === "anthropic";
  const base = withoutSlashes(address.apiBase);
  const url = isAnthropic ? `${base.replace(/\/v1$/, "")}/v1/models?limit=1000` : `${base}/models`;
  const headers = new Headers(address.headers);
  if (isAnthropic) headers.set("anthropic-version", "2023-06-01");
  if (apiKey !== undefined) headers.set(...loginOf(apiKey, isAnthropic));
  const said = (text: string): string => (apiKey === undefined ? text : text.replaceAll(apiKey, "***"));
  using scope = linked(signal, limitMs);
  const read = async (from: string): Promise<{ readonly response: Response; readonly text: string }> => {
    try {
      const response = await fetch(from, { headers, signal: scope.signal, redirect: "error" });
      onAnswer?.(response);
      return { response, text: await boundedText(response) };
    } catch (cause) {
      const why = scope.signal.aborted ? `no answer within ${limitMs / 1000} s` : reasonOf(cause);
      throw new Error(`${hostOf(base)} cannot be reached: ${said(why)}.`, { cause });
    }
  };
  const refusal = ({ status }: Response, body: string): Error =>
    new Error(`${hostOf(base)} answered ${status}: ${said(body.slice(0, 300))}`);
  if (apiKey !== undefined && address.keyPath !== undefined) {
    const { response, text } = await read(`${base}${address.keyPath}`);
    if (response.status === 401 || response.status === 403) throw refusal(response, text);
  }
  const { response, text } = await read(url);
  if (!response.ok) throw refusal(response, text);
  const parsed = listing.safeParse(parse(text));
  if (!parsed.success) throw new Error(`${hostOf(base)} answered, but not with a list of models. Check the address.`);
  return parsed.data.data.map(({ id, name, display_name }) => {
    // Gemini's list has the path of each model in its own API.
    const plain = id.replace(/^models\//, "");
    return { id: plain, name: name ?? display_name ?? plain };
  });
}

function loginOf(apiKey: string, isAnthropic: boolean): [name: string, value: string] {
  return isAnthropic ? ["x-api-key", apiKey] : ["authorization", `Bearer ${apiKey}`];
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new Error("the answer is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  const why = whyUnreached(error);
  if (why !== undefined) return why;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}

function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : "The address";
}
