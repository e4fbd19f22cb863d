const shape = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z.-]{1,60}))?(?:\+[0-9A-Za-z.-]{1,60})?$/;

/** `1.2.3`, `1.2.3-beta.1`: nothing that could mean a folder or a tag. */
export function isVersion(text: string): boolean {
  return shape.test(text);
}

/** Below 0: `a` is older. What is not a version is older than all others. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [shape.exec(a), shape.exec(b)];
  if (first === null || second === null) return Number(first !== null) - Number(second !== null);
  for (const part of [1, 2, 3]) {
    const difference = Number(first[part]) - Number(second[part]);
    if (difference !== 0) return difference;
  }
  return comparePrerelease(first[4], second[4]);
}

/** As semver has it: none is the newest, numbers count as numbers and before words, more parts are newer. */
function comparePrerelease(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  const [first, second] = [a.split("."), b.split(".")];
  for (let at = 0; at < Math.max(first.length, second.length); at++) {
    const [one, other] = [first[at], second[at]];
    if (one === undefined || other === undefined) return one === undefined ? -1 : 1;
    if (one === other) continue;
    const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)];
    if (isNumber && isOtherNumber) return Number(one) - Number(other);
    if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
    return one < other ? -1 : 1;
  }
  return 0;
}
