import { z } from "zod";
import { messageOf } from "../../errors.js";
import { linked } from "../../util/async/linked.js";
import { readNoted } from "../../util/files/noted-file.js";
import { whyUnreached } from "../../util/text/why-unreached.js";
import { readErrorBody } from "../wire/error-body.js";
import { beginningOf } from "../wire/refusal.js";
import { toChatBase } from "./openai.js";

export interface TranscriptionOptions {
  /** Default: OpenAI's. */
  readonly apiBase?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly model: string;
}

const longestMs = 120_000;
const maxBytes = 100 * 1024 * 1024;
const answer = z.object({ text: z.string() });

/**
 * The words of a recording, by `/audio/transcriptions` as OpenAI has it.
 *
 * @throws an error that names the server when it cannot be reached or refuses, and what reading the file throws
 */
export async function transcribe(
  options: TranscriptionOptions,
  file: { readonly path: string; readonly filename: string; readonly mimeType: string },
  signal: AbortSignal,
): Promise<string> {
  const { apiBase = "https://api.openai.com/v1", apiKey = "", model } = options;
  const form = new FormData();
  form.append("file", new Blob([await readNoted(file.path, maxBytes)], { type: file.mimeType }), file.filename);
  form.append("model", model);
  using scope = linked(signal, longestMs);
  try {
    const response = await fetch(`${toChatBase(apiBase)}/audio/transcriptions`, {
      method: "POST",
      headers: apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` },
      body: form,
      // A redirect would carry the key to another address.
      redirect: "manual",
      signal: scope.signal,
    });
    if (response.ok) return answer.parse(await response.json()).text;
    throw new Error(`${response.status} ${readErrorBody(await beginningOf(response)).message}`);
  } catch (error) {
    const why = whyUnreached(error) ?? messageOf(error);
    throw new Error(`${new URL(apiBase).host} (transcription.apiBase): ${why}`, { cause: error });
  }
}
