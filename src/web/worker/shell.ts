declare const self: ServiceWorkerGlobalScope;

/** Filled in by the build: what the page needs to open, and a name that another build does not have. */
declare const pageFiles: readonly string[];
declare const pageVersion: string;

const scope = new URL(self.registration.scope);
const prefix = `maxclaw ${scope.pathname} `;
const current = `${prefix}${pageVersion}`;

/** A gateway that is slower than this is as good as away. */
const patienceMs = 5000;

/** Resolves once all of it is kept: a worker without its page does not take over. */
export async function keepShell(): Promise<void> {
  const cache = await caches.open(current);
  await cache.addAll(["./", ...pageFiles].map((path) => new Request(new URL(path, scope), { cache: "no-cache" })));
}

export async function deleteShells(which: "old" | "all"): Promise<void> {
  const ours = (await caches.keys()).filter((name) => name.startsWith(prefix));
  await Promise.all(ours.filter((name) => which === "all" || name !== current).map((name) => caches.delete(name)));
}

/** Only the page's own files are: what the gateway says goes past the worker. */
export function isOfShell({ method, mode, url }: Request): boolean {
  const path = pathOf(url);
  if (method !== "GET" || path === undefined) return false;
  return mode === "navigate" ? isPage(path) : isHashed(path) || pageFiles.includes(path);
}

/**
 * The page comes from the gateway as long as that answers, so that it is never older than the gateway. Its files have
 * another name in each build, or belong to this one.
 */
export async function readShell(request: Request): Promise<Response> {
  if (request.mode === "navigate") return await readPage(request);
  const cache = await caches.open(current);
  const kept = await cache.match(request, { ignoreVary: true });
  if (kept !== undefined) return kept;
  const answer = await fetch(request);
  if (answer.ok && isHashed(pathOf(request.url) ?? "")) await cache.put(request, answer.clone());
  return answer;
}

async function readPage(request: Request): Promise<Response> {
  const cache = await caches.open(current);
  const kept = await cache.match(new URL("./", scope), { ignoreVary: true });
  const asked = fetch(request);
  if (kept === undefined) return await asked;
  const slow = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), patienceMs));
  const answer = await Promise.race([asked.catch(() => undefined), slow]);
  // A proxy says so where the gateway behind it is away.
  return answer === undefined || answer.status >= 500 ? kept : answer;
}

function isPage(path: string): boolean {
  return path === "" || path === "index.html";
}

/** Vite puts a hash into the name of each asset. */
function isHashed(path: string): boolean {
  return /^assets\/[^/]+-[\w-]{8,}\.\w+$/.test(path);
}

function pathOf(url: string): string | undefined {
  const { origin, pathname } = new URL(url);
  return origin === scope.origin && pathname.startsWith(scope.pathname)
    ? pathname.slice(scope.pathname.length)
    : undefined;
}
