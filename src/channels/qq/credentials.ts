/** What the bot logs in with. */
export interface Credentials {
  readonly appId: string;
  readonly appSecret: string;
}

/**
 * Both from the keys of the section. The Go maxclaw also takes them from `accessToken`, as `appId:appSecret`, or the
 * secret alone beside an `appId`. Undefined: one is missing.
 */
export function credentialsOf({
  appId,
  appSecret,
  accessToken,
}: {
  readonly [K in keyof Credentials | "accessToken"]?: string | undefined;
}): Credentials | undefined {
  const [, before, behind = accessToken] = /^([^:]*):(.*)$/s.exec(accessToken ?? "") ?? [];
  const id = appId ?? (before?.trim() || undefined);
  const secret = appSecret ?? (behind?.trim() || undefined);
  return id === undefined || secret === undefined ? undefined : { appId: id, appSecret: secret };
}
