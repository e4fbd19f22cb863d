/** The first of these texts that is not a command, or else the first one, 100 characters of it. */
export function beginningOf(texts: readonly string[]): {
  readonly text: string | undefined;
  readonly isCommand: boolean;
} {
  const own = texts.find((text) => !isCommand(text));
  const first = own ?? texts[0];
  const text = first === undefined ? undefined : [...first.slice(0, 400)].slice(0, 100).join("");
  return { text, isCommand: own === undefined };
}

/** `/help`, `/model fast`: for the gateway, and not what the conversation is about. */
function isCommand(text: string): boolean {
  return /^\/[a-z]+(?:@\w+)?(?:\s|$)/i.test(text);
}
