import { messageOf } from "../../errors.js";
import { readNoted } from "../../util/files/noted-file.js";
import { openClient, toChatBase } from "./openai.js";

export interface TranscriptionOptions {
  /** Default: OpenAI's. */
  readonly apiBase?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly model: string;
}

const longestMs = 120_000;
const maxBytes = 100 * 1024 * 1024;

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
  const { apiBase = "https://api.openai.com/v1", apiKey, model } = options;
  const [client, { toFile }, bytes] = await Promise.all([
    openClient({ apiKey }, toChatBase(apiBase), longestMs),
    import("openai"),
    readNoted(file.path, maxBytes),
  ]);
  const upload = await toFile(bytes, file.filename, { type: file.mimeType });
  try {
    const { text } = await client.audio.transcriptions.create({ file: upload, model }, { signal });
    return text;
  } catch (error) {
    throw new Error(`${new URL(apiBase).host} (transcription.apiBase): ${messageOf(error)}`, { cause: error });
  }
}
