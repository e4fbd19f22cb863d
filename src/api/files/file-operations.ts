import { join } from "node:path";
import type { Attachment } from "../../bus/messages.js";
import { messageOf, RequestError } from "../../errors.js";
import type { Uploads } from "../../inbound/uploads.js";
import type { Transcribe } from "../../inbound/voice-notes.js";
import type { SessionStore } from "../../sessions/session-store.js";
import { linked } from "../../util/async/linked.js";
import type { OpenedFile } from "../../util/files/opened-file.js";
import { assertSession } from "../sessions/assert-session.js";
import type { FilesApi } from "./files-api.js";

export interface FilePorts {
  readonly sessions: Pick<SessionStore, "exists">;
  readonly uploads: Pick<Uploads, "folder" | "keep" | "open" | "openReceived">;
  readonly transcribe: () => Transcribe | undefined;
  readonly artifacts: { open(sessionKey: string, artifactId: string): Promise<OpenedFile> };
}

/** Files on their way between people and the assistant. */
export function createFileOperations({ sessions, uploads, transcribe, artifacts }: FilePorts): FilesApi {
  return {
    async openArtifact(key, artifactId) {
      await assertSession(sessions, key);
      return await artifacts.open(key, artifactId);
    },
    upload: (file) => uploads.keep(file),
    openUpload: (name) => uploads.open(name),
    async transcribeUpload(name, signal) {
      const { handle, ...file } = await uploads.open(name);
      await handle.close();
      return await wordsOf({ ...file, path: join(uploads.folder, name) }, transcribe(), signal);
    },
    async openReceived(key, name) {
      await assertSession(sessions, key);
      return await uploads.openReceived(key, name);
    },
  };
}

const transcribeMs = 60_000;

async function wordsOf(file: Attachment, transcribe: Transcribe | undefined, signal: AbortSignal): Promise<string> {
  if (transcribe === undefined)
    throw new RequestError("No service writes down what is said. Set transcription.apiKey in the config.", {
      status: 409,
      code: "no_transcription",
    });
  using scope = linked(signal, transcribeMs);
  try {
    return (await transcribe(file, scope.signal)).trim();
  } catch (error) {
    signal.throwIfAborted();
    throw new RequestError(`The recording could not be written down: ${messageOf(error)}`, {
      status: 502,
      code: "transcription_failed",
      cause: error,
    });
  }
}
