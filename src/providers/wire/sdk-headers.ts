type SdkHeaders = Record<string, string | null>;

/**
 * The headers of one client: how it names itself to its server, then what the config adds. What an SDK would take from
 * its `*_CUSTOM_HEADERS` variable is switched off: that may be a key for another address than the one that is called.
 */
export function toSdkHeaders(
  variable: string | undefined,
  auth: Readonly<SdkHeaders>,
  configured: Readonly<Record<string, string>> | undefined,
): SdkHeaders {
  const names = (variable ?? "").split("\n").map((line) => line.split(":")[0]?.trim().toLowerCase() ?? "");
  const foreign = names.filter((name) => name !== "").map((name) => [name, null]);
  const own = Object.entries(configured ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  return Object.fromEntries([...foreign, ...Object.entries(auth), ...own]);
}
