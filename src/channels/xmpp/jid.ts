/** The part of an address before its resource, in small letters, as servers compare them. */
export function bareOf(jid: string): string {
  const [bare = ""] = jid.split("/", 1);
  return bare.toLowerCase();
}

/** Behind the first slash: a device, or a nick in a room. Undefined: it has none. */
export function resourceOf(jid: string): string | undefined {
  const at = jid.indexOf("/");
  return at === -1 ? undefined : jid.slice(at + 1);
}

export function domainOf(jid: string): string {
  const bare = bareOf(jid);
  return bare.slice(bare.indexOf("@") + 1);
}

export function userOf(jid: string): string {
  const bare = bareOf(jid);
  const at = bare.indexOf("@");
  return at === -1 ? "" : bare.slice(0, at);
}

/** `name@server`, as people write it; undefined: it is not an address of a person or room. */
export function jidIn(text: string): string | undefined {
  const bare = bareOf(text.trim().replace(/^xmpp:/i, ""));
  return /^[^@\s/<>"'&:]{1,255}@[^@\s/<>"'&]{1,255}$/.test(bare) ? bare : undefined;
}
