/** A key for a new chat: `webui:` and 8 hex digits. */
export function newSessionKey(): string {
  const bytes = [...crypto.getRandomValues(new Uint8Array(4))];
  return `webui:${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** The session that the address names after its `#`. Nothing else of the address is ever read. */
export function sessionKeyFromHash(hash: string): string | undefined {
  try {
    const key = decodeURIComponent(hash.replace(/^#/, ""));
    return /^[a-z0-9-]+:./.test(key) && !key.startsWith("system:") && key.length <= 500 ? key : undefined;
  } catch {
    return undefined;
  }
}

export function hashOf(sessionKey: string): string {
  return `#${encodeURIComponent(sessionKey).replaceAll("%3A", ":")}`;
}
