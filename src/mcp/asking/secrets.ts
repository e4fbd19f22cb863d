import type { Field } from "./form.js";

/** What a form must not ask for: it would be in the conversation, and with everyone who reads along. */
const secret =
  /pass[\s_-]?(word|phrase|wd|code)|\bpwd\b|secret|credential|private[\s_-]?key|api[\s_-]?key|access[\s_-]?key|\btoken\b|_token|\bpin\b|\botp\b|one[\s-]time code|\bcv[cv]\b|card[\s_-]?number|\biban\b|\bssn\b|kennwort|passwort|密码|密碼|口令/i;

/** The name of the field that asks for a secret, if one does. */
export function secretField(message: string, fields: readonly Field[]): string | undefined {
  const free = fields.filter(({ kind }) => kind === "text" || kind === "number");
  const named = free.find((field) => secret.test(spaced(field)) || ("format" in field && field.format === "password"));
  if (named !== undefined) return named.name;
  return secret.test(message) ? free.find(({ kind }) => kind === "text")?.name : undefined;
}

/** `apiKey` and `api_key` read like `api key`. */
function spaced({ name, label }: Field): string {
  const apart = name.replace(/([a-z\d])([A-Z])/g, "$1 $2");
  return `${name} ${apart} ${apart.replace(/[_-]+/g, " ")} ${label}`;
}
