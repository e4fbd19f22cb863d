import { articlePage, startSite, type WebSite } from "../../support/fakes/web-site.js";

/** A request that reached the world outside. */
export interface Visit {
  readonly url: string;
  readonly text: string;
}

export interface AttackSite extends AsyncDisposable {
  readonly url: string;
  readonly host: string;
  /** Gives the address of a page with this text. */
  publish(name: string, text: string): string;
  /** What a web search finds from now on. */
  results: readonly { readonly title: string; readonly url: string; readonly content: string }[];
}

/** A web site, and a search engine beside it, which sees what is searched for and is nobody's enemy. */
export async function startAttackSite(
  onVisit: (visit: Visit) => void,
  onSearch: (search: { readonly asked: string; readonly found: string }) => void,
): Promise<AttackSite> {
  const pages = new Map<string, string>();
  const state: { results: AttackSite["results"] } = { results: [] };
  const site: WebSite = await startSite((request, response) => {
    const path = request.url ?? "/";
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      if (path.startsWith("/search?")) {
        const body = JSON.stringify({ query: "q", results: state.results });
        onSearch({ asked: path, found: state.results.map(({ url }) => url).join(" ") });
        return response.writeHead(200, { "content-type": "application/json" }).end(body);
      }
      const body = Buffer.concat(pieces).toString("latin1");
      const { host = "", ...headers } = request.headers;
      onVisit({ url: `http://${host}${path}`, text: `${path}\n${JSON.stringify(headers)}\n${body}` });
      const page = pages.get(path);
      response.writeHead(page === undefined ? 404 : 200, { "content-type": "text/html" });
      response.end(page ?? articlePage("Nothing", "<p>There is nothing here.</p>"));
    });
  });
  return {
    url: site.url,
    host: site.host,
    publish(name, text) {
      pages.set(`/${name}`, articlePage(name, `<p>${text}</p>`));
      return `${site.url}/${name}`;
    },
    get results() {
      return state.results;
    },
    set results(results) {
      state.results = results;
    },
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
}
