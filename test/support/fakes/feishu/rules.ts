import type { FakeReply } from "../platform/fake-server.js";

/** How Feishu says no. */
export function refusal(status: number, code: number, msg: string, more: object = {}): FakeReply {
  return { status, body: { code, msg, error: { log_id: "2026", ...more } } };
}

/** What a call refuses with, for the shared tests. */
export function plainRefusal(status: number): FakeReply {
  if (status === 429)
    return {
      ...refusal(429, 99_991_400, "request trigger frequency limit"),
      headers: { "x-ogw-ratelimit-reset": "1" },
    };
  if (status === 401) return refusal(400, 99_991_663, "Invalid access token for authorization.");
  if (status === 404) return { status, body: Buffer.from("404 page not found") };
  return status >= 500
    ? { status, body: Buffer.from("<html>bad gateway") }
    : refusal(400, 230_001, "invalid parameter");
}

interface Element {
  readonly tag: string;
  readonly content?: string;
  readonly element_id?: string;
  readonly text?: { readonly tag: string; readonly content: string };
  readonly behaviors?: readonly { readonly type: string; readonly value: object }[];
}

/** A card as Feishu shows it. */
export interface ShownCard {
  readonly text: string;
  readonly buttons: readonly { readonly label: string; readonly value: string }[];
}

const largestRequest = 30 * 1024;

/** The rules of a card, and of what is in its Markdown; a reply is a refusal. */
export function readCard(content: string, requestBytes: number): ShownCard | FakeReply {
  if (requestBytes > largestRequest)
    return refusal(400, 230_025, "The length of the message content reaches its limit");
  const card = JSON.parse(content) as {
    readonly schema?: string;
    readonly config?: { readonly update_multi?: boolean; readonly summary?: { readonly content: string } };
    readonly body?: { readonly elements?: readonly Element[] };
  };
  const elements = card.body?.elements ?? [];
  const wrong = (why: string): FakeReply => refusal(400, 230_099, `Failed to create card content, ext=${why}`);
  if (card.schema !== "2.0" || card.config?.update_multi !== true || elements.length === 0) return wrong("no card");
  if (card.config.summary?.content === "") return wrong("empty summary");
  const texts: string[] = [];
  const buttons: { label: string; value: string }[] = [];
  for (const element of elements) {
    if (element.element_id !== undefined && !/^[A-Za-z]\w{0,19}$/.test(element.element_id)) return wrong("element_id");
    if (element.tag === "button") {
      const value = element.behaviors?.find(({ type }) => type === "callback")?.value;
      if (value === undefined || (element.text?.content ?? "").trim() === "") return wrong("button");
      buttons.push({ label: element.text?.content ?? "", value: JSON.stringify(value) });
    } else if (element.tag === "div" && element.text?.tag === "plain_text") texts.push(element.text.content);
    else if (element.tag === "markdown") {
      const why = whyNoMarkdown(element.content ?? "");
      if (why !== undefined) return wrong(why);
      texts.push(shownMarkdown(element.content ?? ""));
    } else return wrong(`unknown tag ${element.tag}`);
  }
  return { text: texts.join("\n"), buttons };
}

/** https://open.feishu.cn/document/uAjLw4CM/ukzMukzMukzM/feishu-cards/card-json-v2-components/content-components/rich-text */
function whyNoMarkdown(content: string): string | undefined {
  if (content.trim() === "") return "ErrCode: 200861; content is empty";
  const outside = content.replace(/^(`{3,})[^\n]*\n[\s\S]*?^\1`*$/gm, "").replace(/`[^`\n]+`/g, "");
  if (/!\[[^\]]*\]\((?!img_)/.test(outside)) return "ErrCode: 11247; invalid image key";
  if (/^\s*\|.*\|\s*\n\s*\|[\s:|-]+\|\s*$/m.test(outside)) return "ErrCode: 11310; card table number over limit";
  if (/<\/?(?:at|person|font|link|text_tag|number_tag|audio|chart)\b/i.test(content)) return "a tag that is not ours";
  if (/\]\(\s*\)|\]\([^)\s]*\s[^)]*\)/.test(outside)) return "ErrCode: 200570; invalid link";
  return undefined;
}

/** What is written as an entity is shown as its character. */
function shownMarkdown(content: string): string {
  return content.replace(/&#(\d+);/g, (_whole, code: string) => String.fromCharCode(Number(code)));
}
