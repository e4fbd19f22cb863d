/** `1 file`, `2 files`; `plural` where an s is not enough. */
export function counted(count: number, word: string, plural = `${word}s`): string {
  return `${count} ${count === 1 ? word : plural}`;
}
