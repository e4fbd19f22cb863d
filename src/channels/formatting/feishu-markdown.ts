import { commonMarks } from "./common-marks.js";
import { renderMarkdown } from "./markdown.js";
import { toPlainText } from "./plain-text.js";

/**
 * Markdown for a card of Feishu: without pictures, which need a key of Feishu's, and tables as code, because a card takes
 * five. What is not a mark is written as Feishu's documents say, as an entity of HTML.
 * https://open.feishu.cn/document/uAjLw4CM/ukzMukzMukzM/feishu-cards/card-json-v2-components/content-components/rich-text
 */
export function toFeishuMarkdown(markdown: string): string {
  return withoutCalls(renderMarkdown(markdown, feishuMarks));
}

/** For what Feishu shows without marks. */
export function toFeishuText(markdown: string): string {
  return withoutCalls(toPlainText(markdown));
}

const common = commonMarks(escapePlain);
const feishuMarks = {
  ...common,
  // Feishu has no form for code with a backtick in it.
  code: (text: string) => (text.trim() === "" ? escapePlain(text) : `\`${text.replaceAll("`", "ˋ")}\``),
  link: (inner: string, href: string) =>
    common.link(inner, href.replaceAll("(", "%28").replace(/\s/g, encodeURIComponent)),
};

function escapePlain(text: string): string {
  return text
    .replace(/&(?=#?\w+;)|[<>*~`[\]\\]|(?<![^\W_])_|_(?![^\W_])/g, toEntity)
    .replace(/^([ \t]*)([-+#])/gm, (_whole, space: string, mark: string) => `${space}${toEntity(mark)}`)
    .replace(/:(?=[A-Za-z_]+:)/g, toEntity);
}

function toEntity(character: string): string {
  return `&#${character.charCodeAt(0)};`;
}

/** The model must not call anybody, nor show a person's card, from within code either. */
function withoutCalls(text: string): string {
  return text.replace(/<(?=\/?(?:at|person)\b)/gi, "<\u200b");
}
