import { hashOf, sessionKeyFromHash } from "../session/session-key.js";

const invitation = /^#join=([\w-]{1,200})$/;

/** The code of an invitation that has led here. It works once, so it goes from the address and from the history. */
export function takeInvitation(): string | undefined {
  const code = invitation.exec(location.hash)?.[1];
  if (code !== undefined) history.replaceState(null, "", location.pathname);
  return code;
}

/** The address says which chat is open, so that reload and back button work. Whatever else it says is not read. */
export interface Route {
  readonly key: string | undefined;
  /** Adds a step to the history. */
  go(key: string): void;
  /** Says so in place of what the address said. */
  settle(key: string): void;
  clear(): void;
}

/** `onKey` gets the chat that the back button, a link or the reader's typing has led to, but not what `go` was given. */
export function followRoute(onKey: (key: string) => void): Route {
  window.addEventListener("hashchange", () => {
    const key = sessionKeyFromHash(location.hash);
    if (key !== undefined) onKey(key);
  });
  return {
    get key() {
      return sessionKeyFromHash(location.hash);
    },
    go(key) {
      if (location.hash !== hashOf(key)) history.pushState(null, "", hashOf(key));
    },
    settle: (key) => history.replaceState(null, "", hashOf(key)),
    clear: () => history.replaceState(null, "", location.pathname),
  };
}
