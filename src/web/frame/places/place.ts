import { hashOf, sessionKeyFromHash } from "../../session/session-key.js";

/** What the page shows: a chat (`#webui:1234abcd`), or a pane with what it is about (`#/usage/30`). */
export type Place =
  | { readonly kind: "chat"; readonly key: string }
  | { readonly kind: "pane"; readonly id: string; readonly argument: string };

export function placeOf(hash: string): Place | undefined {
  const [, id, argument = ""] = /^#\/([a-z-]{1,40})(?:\/(.*))?$/s.exec(hash) ?? [];
  if (id !== undefined) return { kind: "pane", id, argument: decoded(argument) };
  const key = sessionKeyFromHash(hash);
  return key === undefined ? undefined : { kind: "chat", key };
}

export function hashOfPlace(place: Place): string {
  if (place.kind === "chat") return hashOf(place.key);
  return place.argument === "" ? `#/${place.id}` : `#/${place.id}/${encodeURIComponent(place.argument)}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
