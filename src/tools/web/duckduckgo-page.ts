import { Parser } from "htmlparser2";
import type { SearchResult } from "./search-services.js";

/** The results on a page of DuckDuckGo without its advertisements; undefined for a page that holds no list. */
export function readDuckDuckGo(html: string): readonly SearchResult[] | undefined {
  const results: { title: string; url: string; text: string; isAd: boolean }[] = [];
  let part: "title" | "text" | undefined;
  let isList = false;
  let isAd = false;
  let depth = 0;
  const parser = new Parser({
    onopentag(name, { class: classes = "", id, href = "" }) {
      const has = (wanted: string): boolean => classes.split(/\s+/).includes(wanted);
      if (id === "links" || has("no-results")) isList = true;
      if (has("result")) isAd = has("result--ad");
      if (part !== undefined) depth += 1;
      else if (name === "a" && has("result__a")) {
        results.push({ title: "", url: targetOf(href), text: "", isAd });
        part = "title";
        depth = 1;
      } else if (has("result__snippet")) {
        part = "text";
        depth = 1;
      }
    },
    ontext(text) {
      const last = results.at(-1);
      if (last !== undefined && part !== undefined) last[part] += text;
    },
    onclosetag() {
      if (part === undefined) return;
      depth -= 1;
      if (depth === 0) part = undefined;
    },
  });
  parser.end(html);
  if (!isList) return undefined;
  return results
    .filter((result) => !result.isAd && result.url !== "")
    .map(({ title, url, text }) => ({ title: tidy(title), url, text: tidy(text) }));
}

/** Links lead over DuckDuckGo, with the true address in `uddg`. */
function targetOf(href: string): string {
  if (!URL.canParse(href, "https://duckduckgo.com")) return "";
  const url = new URL(href, "https://duckduckgo.com");
  const target = url.searchParams.get("uddg") ?? url.href;
  return /^https?:\/\//.test(target) ? target : "";
}

function tidy(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
