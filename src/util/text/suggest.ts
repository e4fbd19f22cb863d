/**
 * The known word that was most likely meant, or undefined when none is near. `limit`: how many letters may differ; a third
 * of them unless told.
 */
export function suggest(word: string, known: readonly string[], limit = thirdOf(word)): string | undefined {
  // A whole text is not a mistyped word.
  const wanted = plain(word.slice(0, 64));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of known) {
    const distance = editDistance(wanted, plain(candidate));
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

function thirdOf(word: string): number {
  return Math.max(1, Math.floor(plain(word).length / 3));
}

/** Equal for `apiKey`, `api_key`, `api-key` and `APIKEY`. */
export function plain(key: string): string {
  return key.replaceAll(/[_-]/g, "").toLowerCase();
}

/** Whether a key is this one, however it is spelled. One that ends with a hyphen is not finished. */
export function isSpelling(key: string, known: string): boolean {
  return plain(key) === plain(known) && /[^_-]$/.test(key);
}

/** Insertions, deletions, substitutions and swaps of neighbours between two words. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? (beforeLast[j - 2] ?? 0) + 1 : replaced;
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, replaced, swapped));
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
