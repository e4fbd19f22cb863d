const suffix = "@s.whatsapp.net";

/** A person or a group as we name them: the digits of a phone number, and whole addresses of everything else. */
export function personOf(written: string): string {
  const text = written.trim();
  if (/^[+\d\s().-]+$/.test(text)) return text.replace(/\D/g, "");
  // A device of the same person: `491701234567:12@s.whatsapp.net`.
  const [, user = "", server = ""] = /^([^@:]+)(?::\d+)?@(\S+)$/.exec(text) ?? [];
  if (server === "s.whatsapp.net" || server === "c.us") return user;
  return server === "" ? text : `${user}@${server}`;
}

/** The address that the bridge sends to. */
export function jidOf(chatId: string): string {
  return chatId.includes("@") ? chatId : `${chatId}${suffix}`;
}

export function isGroup(jid: string): boolean {
  return jid.endsWith("@g.us");
}

/** Status updates, newsletters and lists: nobody talks to the assistant there. */
export function isBroadcast(jid: string): boolean {
  return /@(?:broadcast|newsletter)$/.test(jid);
}
