import type { UploadedFile } from "../../client/upload.js";
import { type Api, textIn } from "../gateway/api.js";

interface Uploading {
  upload(content: Blob, name: string, signal: AbortSignal): Promise<UploadedFile>;
}

const longestMs = 90_000;

/** The words of a recording, by the service that the gateway's config names. @throws what the gateway says when it has none */
export async function writeDown(connection: Uploading, api: Api, recording: File): Promise<string> {
  const { path } = await connection.upload(recording, recording.name, AbortSignal.timeout(longestMs));
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  const answer = await api.post(`api/uploads/${encodeURIComponent(name)}/words`, undefined, { timeoutMs: longestMs });
  return textIn(answer.text);
}
