/** The letters and digits of a text alone, in small letters: what two writings of the same have in common. */
export function lettersOf(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/[^\p{L}\p{N}]/gu, "")
    .toLowerCase();
}
