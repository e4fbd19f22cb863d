const name = "maxclaw.token";

/** The gateway's token for as long as this tab lives. It is never taken from the page's address. */
export interface TokenStore {
  get(): string | undefined;
  set(token: string): void;
  remove(): void;
}

export function createTokenStore(storage: Pick<Storage, "getItem" | "setItem" | "removeItem">): TokenStore {
  return {
    get: () => storage.getItem(name) ?? undefined,
    set: (token) => storage.setItem(name, token),
    remove: () => storage.removeItem(name),
  };
}
