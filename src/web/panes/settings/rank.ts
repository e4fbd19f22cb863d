/** The better it fits, the lower: names before meanings, whole words before parts of words. */
export function rankOf(
  { name, label, meaning }: { readonly name: string; readonly label: string; readonly meaning: string },
  wanted: string,
): number {
  const words = `${name} ${label}`
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[\s.]+/);
  const said = meaning.toLowerCase();
  const ranks = wanted
    .toLowerCase()
    .split(/\s+/)
    .map((word) => {
      if (words.includes(word) || name.toLowerCase().split(".").includes(word)) return 0;
      if (`${name} ${label}`.toLowerCase().includes(word)) return 1;
      return said.split(/[^\p{L}\p{N}]+/u).includes(word) ? 2 : 3;
    });
  return Math.max(...ranks);
}
