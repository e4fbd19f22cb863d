/** Which database an address means, for people: `db.example.org:5432/maxclaw`, without user, password and options. */
export function databaseName(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { host, pathname, searchParams } = new URL(url);
  // A socket is named as an option.
  return `${host === "" ? (searchParams.get("host") ?? "localhost") : host}${pathname}`;
}
