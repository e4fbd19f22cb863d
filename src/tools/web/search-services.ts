import { z } from "zod";

export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly text: string;
}

/** The wire of one search service. */
export interface SearchService {
  /** Its public address; none where everybody runs their own. */
  readonly apiBase: string | undefined;
  url(base: string, query: string, count: number): string;
  headers(apiKey: string | undefined): Readonly<Record<string, string>>;
  /** Undefined for what is not an answer of this service. */
  read(body: string): Promise<readonly SearchResult[] | undefined>;
}

const braveAnswer = z.object({
  web: z
    .object({ results: z.array(z.object({ title: z.string(), url: z.string(), description: z.string().default("") })) })
    .optional(),
});
const searxngAnswer = z.object({
  results: z.array(z.object({ title: z.string().default(""), url: z.string(), content: z.string().nullish() })),
});

/** https://api-dashboard.search.brave.com/app/documentation/web-search */
const brave: SearchService = {
  apiBase: "https://api.search.brave.com/res/v1",
  url: (base, query, count) => `${base}/web/search?${new URLSearchParams({ q: query, count: String(count) })}`,
  headers: (apiKey) => ({ accept: "application/json", "x-subscription-token": apiKey ?? "" }),
  async read(body) {
    const { data } = braveAnswer.safeParse(jsonOf(body));
    return (
      data &&
      (data.web?.results ?? []).map(({ title, url, description }) => ({
        title: plain(title),
        url,
        text: plain(description),
      }))
    );
  },
};

/** https://docs.searxng.org/dev/search_api.html; its settings must allow the format json. */
const searxng: SearchService = {
  apiBase: undefined,
  url: (base, query) => `${base}/search?${new URLSearchParams({ q: query, format: "json" })}`,
  headers: () => ({ accept: "application/json" }),
  async read(body) {
    const { data } = searxngAnswer.safeParse(jsonOf(body));
    return data?.results.map(({ title, url, content }) => ({ title, url, text: content ?? "" }));
  },
};

/** The page for browsers without scripts: there is no API without a key. */
const duckduckgo: SearchService = {
  apiBase: "https://html.duckduckgo.com",
  url: (base, query) => `${base}/html/?${new URLSearchParams({ q: query })}`,
  headers: () => ({ accept: "text/html" }),
  async read(body) {
    const { readDuckDuckGo } = await import("./duckduckgo-page.js");
    return readDuckDuckGo(body);
  },
};

export const searchServices = { brave, searxng, duckduckgo } as const;

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Brave marks the words that were found. */
function plain(html: string): string {
  return html
    .replace(/<[^>]{1,200}>/g, "")
    .replace(/&quot;/g, '"')
    .replace(/&#x27;|&#39;/g, "'")
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&amp;/g, "&");
}
