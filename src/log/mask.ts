/** What keys of well-known services, bot tokens and authorization headers look like. */
const patterns: readonly RegExp[] = [
  /\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|ghu|github_pat|glpat)[-_][A-Za-z0-9_-]{16,}/g,
  /\bxox[abeprs]-[A-Za-z0-9-]{10,}/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bAKIA[A-Z0-9]{16}\b/g,
  // Telegram; also inside of the path /bot<token>/.
  /\d{6,12}:[A-Za-z0-9_-]{30,}/g,
  /\b[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}/g,
  /\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]+/g,
  /(?<=\b(?:Bearer|Basic)\s{1,8})[A-Za-z0-9._~+/=-]{8,}/gi,
  /(?<=[?&](?:token|key|api_key|access_token|secret)=)[^&\s"'\\]+/gi,
];

/** Replaces the given values, and what looks like a key, by three stars. JSON stays JSON. */
export function createMask(secrets: readonly string[]): (text: string) => string {
  const values = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < 4) continue;
    values.add(secret);
    values.add(encodeURIComponent(secret));
    // A key of several lines is shown line by line.
    for (const line of secret.split(/\r?\n/)) if (line.trim().length >= 8) values.add(line.trim());
    values.add(JSON.stringify(secret).slice(1, -1));
  }
  // The longest first, so that one secret inside of another leaves no rest.
  const ordered = [...values].sort((a, b) => b.length - a.length);
  return (text) => {
    let masked = text;
    for (const value of ordered) masked = masked.replaceAll(value, "***");
    for (const pattern of patterns) masked = masked.replaceAll(pattern, "***");
    return masked;
  };
}

/** A mask of the secrets that there are at the moment, made again when there are others. */
export function freshMask(secrets: () => readonly string[]): (text: string) => string {
  let known: { readonly secrets: readonly string[]; readonly mask: (text: string) => string } | undefined;
  return (text) => {
    const now = secrets();
    const isKnown = known?.secrets.length === now.length && now.every((secret, at) => secret === known?.secrets[at]);
    if (known === undefined || !isKnown) known = { secrets: now, mask: createMask(now) };
    return known.mask(text);
  };
}
