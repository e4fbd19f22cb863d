/** The word of `/hepl`; undefined for `/etc/hosts`, `//not a command` and a longer text. */
export function slashWordOf(text: string): string | undefined {
  return /^\/([a-z][a-z_]{0,31})(?:@\w+)?(?:[^\S\n].{0,200})?$/i.exec(text.trim())?.[1]?.toLowerCase();
}
