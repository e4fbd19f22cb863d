import { cutText } from "../../util/text/cut-text.js";
import { visible, visibleFields } from "../../util/text/visible.js";
import type { InboxItem, QuestionItem } from "../inbox/inbox-api.js";

/** What is pushed about one thing that waits. The page's worker reads it (`src/web/worker/notices.ts`). */
export interface Notice {
  readonly id: string;
  readonly kind: InboxItem["kind"];
  readonly title: string;
  readonly text: string;
  /** Of a question: how it is answered. */
  readonly sessionKey?: string;
  readonly requestId?: string;
  readonly actions?: readonly { readonly id: string; readonly label: string }[];
}

const longestTitle = 80;
const longestText = 240;
const longestLabel = 40;
/** The most that any platform shows. */
const mostActions = 2;

/** Short, and without what the log hides as well. */
export function noticeOf(item: InboxItem, mask: (text: string) => string): Notice {
  const { id, kind } = item;
  const whole = mask(item.kind === "dead" ? item.reason : textOf(item));
  const text = cut(whole, longestText);
  const common = { id, kind, title: cut(mask(item.title), longestTitle), text };
  if (item.kind !== "question" && item.kind !== "approval") return common;
  const { sessionKey, requestId } = item;
  const isWhole = text === whole && whole === textOf(item);
  return { ...common, sessionKey, requestId, actions: actionsOf(item, isWhole) };
}

function textOf(item: InboxItem): string {
  if (item.kind !== "approval") return item.text;
  const values = visibleFields(item.input ?? {}).map(({ name, value }) => `${name}: ${value}`);
  return [visible(item.text), ...values].join("\n");
}

/** Nobody may allow what they cannot read to its end; a no is always possible. */
function actionsOf({ kind, asks, options }: QuestionItem, isWhole: boolean): Notice["actions"] {
  if (asks === "env_var") return [];
  const wanted =
    kind === "question" ? options : options.filter(({ id }) => id === "deny" || (id === "allow_once" && isWhole));
  return wanted.slice(0, mostActions).map(({ id, label }) => ({ id, label: cut(label, longestLabel) }));
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${cutText(text, length - 1)}…`;
}
