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
  const texts = new Map<string, string>();
  const told = new Map<string, number>();
  const put = <V>(map: Map<string, V>, key: string, value: V): void => {
    map.delete(key);
    const oldest = map.keys().next();
    if (map.size >= most && oldest.done !== true) map.delete(oldest.value);
    map.set(key, value);
  };
  return {
    keep(sessionKey, platformMessageId, content) {
      if (platformMessageId !== undefined) put(texts, `${sessionKey}\n${platformMessageId}`, content);
    },
    isSame: (sessionKey, platformMessageId, content) => texts.get(`${sessionKey}\n${platformMessageId}`) === content,
    isFirst(what) {
      const last = told.get(what);
      if (last !== undefined && Date.now() - last < longAgoMs) return false;
      put(told, what, Date.now());
      return true;
    },
  };
}
