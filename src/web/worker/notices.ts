import { type InboxKind, inboxKinds } from "../panes/inbox/inbox-items.js";
import { isNight } from "../panes/inbox/night.js";
import { inboxWords } from "../panes/inbox/words.js";

declare const self: ServiceWorkerGlobalScope;

/** What the gateway pushes, as `src/push/notice.ts` writes it. */
interface Pushed {
  readonly id: string;
  readonly kind: InboxKind;
  readonly title: string;
  readonly text: string;
  readonly sessionKey: string;
  readonly requestId: string;
  readonly actions: readonly { readonly id: string; readonly label: string }[];
  readonly language: "en" | "zh";
  readonly quietNights: boolean;
}

/** TypeScript's list lacks what only some platforms have. */
type Options = NotificationOptions & {
  readonly actions?: readonly { readonly action: string; readonly title: string }[];
  readonly renotify?: boolean;
};

/** The browser wants each push to be seen, also one that says nothing. */
export async function showPushed(data: PushMessageData | null): Promise<void> {
  const pushed = parsePushed(data?.text() ?? "");
  if (pushed === undefined) return await self.registration.showNotification("maxclaw", { icon: "icons/icon-192.png" });
  const { id, kind, title, text, actions, language, quietNights } = pushed;
  await show(
    wordOf(language, `notice_${kind}`).replace("{title}", () => title),
    {
      body: text,
      tag: id,
      // One that comes again, because the gateway was not sure, makes no second sound.
      renotify: false,
      silent: quietNights && isNight(new Date()),
      data: pushed,
      actions: actions.map(({ id: action, label }) => ({ action, title: label })),
    },
  );
}

/** The reader has pressed a button: the gateway gets the answer, and what it refuses is said. */
export async function answerNotification({ data }: Notification, action: string): Promise<void> {
  const pushed = pushedIn(data);
  if (pushed === undefined) return;
  const { sessionKey, requestId } = pushed;
  const problem = await refusalOf(`api/sessions/${encodeURIComponent(sessionKey)}/answer`, {
    requestId,
    answer: action,
  });
  if (problem === undefined) return;
  const words = problem === "" ? wordOf(pushed.language, "notAnswered") : problem;
  await show(wordOf(pushed.language, "notTaken"), { body: words, tag: pushed.id, data: { ...pushed, actions: [] } });
}

/** Brings the reader to what waits, in the window that is open if there is one. */
export async function openInbox({ data }: Notification): Promise<void> {
  const id = pushedIn(data)?.id ?? "";
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const { scope } = self.registration;
  const open = windows.find(({ url }) => url.startsWith(scope));
  if (open === undefined) return void (await self.clients.openWindow(`${scope}#/inbox/${encodeURIComponent(id)}`));
  open.postMessage({ open: "inbox", id });
  await open.focus();
}

async function show(title: string, options: Options): Promise<void> {
  await self.registration.showNotification(title, {
    icon: "icons/icon-192.png",
    badge: "icons/badge-96.png",
    ...options,
  });
}

/** Why it was not taken; empty where the gateway is not reached. */
async function refusalOf(path: string, body: object): Promise<string | undefined> {
  try {
    const answer = await fetch(new URL(path, self.registration.scope), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(15_000),
    });
    if (answer.ok) return undefined;
    const said: unknown = await answer.json();
    return textIn(said, "error");
  } catch {
    return "";
  }
}

function wordOf(language: "en" | "zh", key: keyof typeof inboxWords.en): string {
  return inboxWords[language][key];
}

function parsePushed(text: string): Pushed | undefined {
  try {
    return pushedIn(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Also what a notification of an earlier version of the page has kept. */
function pushedIn(value: unknown): Pushed | undefined {
  const kind = inboxKinds.find((one) => one === textIn(value, "kind"));
  if (kind === undefined) return undefined;
  const actions: unknown = Object(value).actions;
  return {
    id: textIn(value, "id"),
    kind,
    title: textIn(value, "title"),
    text: textIn(value, "text"),
    sessionKey: textIn(value, "sessionKey"),
    requestId: textIn(value, "requestId"),
    actions: Array.isArray(actions)
      ? actions.map((each: unknown) => ({ id: textIn(each, "id"), label: textIn(each, "label") }))
      : [],
    language: textIn(value, "language") === "zh" ? "zh" : "en",
    quietNights: Object(value).quietNights === true,
  };
}

function textIn(value: unknown, key: string): string {
  const text: unknown = Object(value)[key];
  return typeof text === "string" ? text : "";
}
