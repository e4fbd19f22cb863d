import { sessionFileName } from "../../../src/sessions/file-names.js";
import { recordKey } from "../../../src/sessions/storage/keys.js";
import type { Change, StorageDriver } from "../../../src/sessions/storage/storage.js";

export const at = "2026-01-01T00:00:00.000Z";

/** The four records of a session, as they are written. */
export function recordsFor(key: string, text = "hello", lastSequence = 1): readonly Change[] {
  const message = { role: "user", content: text, timestamp: at };
  const metadata = { state: "idle", createdAt: at, lastActivity: at, usage: {}, lastSequence };
  const line = {
    key,
    file: `${sessionFileName(key)}.json`,
    messageCount: 1,
    lastMessageAt: at,
    lastMessage: text,
    lastSequence,
  };
  return [
    { key: recordKey("messages", key), value: { key, messages: [message] } },
    { key: recordKey("head", key), value: { key, title: text, metadata } },
    { key: recordKey("chat", key), value: { key } },
    { key: recordKey("line", key), value: line },
  ];
}

export async function save(storage: StorageDriver, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await storage.change(recordsFor(key));
}

export async function saveHeads(storage: StorageDriver, keys: readonly string[]): Promise<void> {
  await Promise.all(
    keys.map((key) => storage.set(`sessions:${key}`, { key, metadata: { state: "idle", lastSequence: 1 } })),
  );
}

export async function scan(storage: StorageDriver, prefix: string): Promise<readonly string[]> {
  return [...(await storage.keys(prefix))].sort();
}
