import { LRUCache } from "lru-cache";

/** What was said lately, in memory and bounded: to tell an edit from the noise that platforms make about old messages. */
export interface RecentTexts {
  keep(sessionKey: string, platformMessageId: string | undefined, content: string): void;
  /** True when the message is known and reads as before. */
  isSame(sessionKey: string, platformMessageId: string | undefined, content: string): boolean;
  /** True the first time, and again when it was long ago. */
  isFirst(what: string): boolean;
}

const most = 2000;
const longAgoMs = 3600_000;

export function createRecentTexts(): RecentTexts {
  const texts = new LRUCache<string, string>({ max: most });
  const told = new LRUCache<string, number>({ max: most });
  return {
    keep(sessionKey, platformMessageId, content) {
      if (platformMessageId !== undefined) texts.set(`${sessionKey}\n${platformMessageId}`, content);
    },
    isSame: (sessionKey, platformMessageId, content) => texts.get(`${sessionKey}\n${platformMessageId}`) === content,
    isFirst(what) {
      const last = told.get(what);
      if (last !== undefined && Date.now() - last < longAgoMs) return false;
      told.set(what, Date.now());
      return true;
    },
  };
}
