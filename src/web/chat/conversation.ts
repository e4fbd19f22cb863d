import type { CommandChoice } from "../commands/choices.js";
import type { UploadFile } from "../files/tray.js";
import type { Drafts } from "../outbox/drafts.js";
import type { Outbox, Written } from "../outbox/outbox.js";
import { onKey } from "../parts/keyboard.js";
import type { OpenChat } from "../session/open-chat.js";
import { isWorking, type SessionState, type UserItem } from "../session/view-state.js";
import type { Store } from "../store.js";
import { type Activity, Composer, type MessageDraft } from "./composer.js";
import { Destination } from "./destination.js";
import { createPlanPanel } from "./plan-panel.js";
import { createQuestionPanel } from "./question-panel.js";
import { Transcript } from "./transcript.js";

interface ConversationOptions {
  readonly store: Store;
  readonly chat: OpenChat;
  readonly upload: UploadFile;
  readonly writeDown: (recording: File) => Promise<string>;
  readonly commands: () => Promise<readonly CommandChoice[]>;
  readonly outbox: Outbox;
  readonly keptDrafts: Drafts;
  /** Read out by screen readers. */
  announce(text: string): void;
  /** Shows another chat. */
  open(key: string): void;
  onFailure(error: unknown): void;
}

/** The chat that is open: what was said, what waits for the reader, and where they write. */
export class Conversation {
  readonly #transcript: Transcript;
  readonly #composer: Composer;
  readonly #question: ReturnType<typeof createQuestionPanel>;
  readonly #plan: ReturnType<typeof createPlanPanel>;
  readonly #destination = new Destination(localStorage);
  readonly #chat: OpenChat;
  readonly #keptDrafts: Drafts;
  /** Of the chats that were open, with files that may be under way. */
  readonly #drafts = new Map<string, MessageDraft>();
  /** Copies of chats as they were before, by chat and event: one is made once. */
  readonly #copies = new Map<string, Promise<string>>();
  #key: string | undefined;

  constructor(options: ConversationOptions) {
    const { store, chat, upload, writeDown, commands, outbox, keptDrafts, announce, open, onFailure } = options;
    const send = (message: Written): void => {
      if (this.#key !== undefined) keptDrafts.sent(this.#key, message.text);
      chat.send({ ...message, alsoToChat: this.#destination.isAlsoThere(message.text) });
      this.#transcript.stick();
    };
    this.#chat = chat;
    this.#keptDrafts = keptDrafts;
    this.#transcript = new Transcript({
      retry: (messageId) => outbox.retry(messageId),
      drop: (messageId) => outbox.drop(messageId),
      isOnline: () => store.known.nextAttemptAt === undefined,
      loadOlder: () => chat.session?.loadOlder(),
      retryTurn: async (turnId) => await chat.session?.retryTurn(turnId),
      loadFile: (path) => chat.session?.loadFile(path) ?? Promise.reject(new Error("No conversation is open.")),
      replace: (item, text) => this.#replace(item, text),
      showEarlier: (seq) => {
        this.#earlier(seq).then(open).catch(onFailure);
      },
      branch: (seq, text) => {
        this.#branch(seq, text).then(open).catch(onFailure);
      },
      onFailure,
    });
    this.#composer = new Composer({
      send,
      stop: () => chat.session?.stop(),
      upload,
      writeDown,
      commands,
      editLast: () => this.editLast(),
      onChange: (text, files) => {
        if (this.#key !== undefined) keptDrafts.put(this.#key, text, files);
      },
    });
    this.#question = createQuestionPanel({
      answer: async (requestId, reply) => {
        await chat.session?.answer(requestId, reply);
        this.focus();
      },
      announce,
    });
    this.#plan = createPlanPanel({ send: (text) => send({ text, mode: undefined, files: [] }), announce });
    store.watch(["nextAttemptAt"], ({ nextAttemptAt }) => {
      this.#transcript.refresh();
      this.#composer.showConnection(nextAttemptAt === undefined);
      if (nextAttemptAt === undefined) this.#composer.resume();
    });
    // What is open above the chat takes the key for itself.
    onKey(document.body, "Escape", (event) => {
      const { session } = store.known;
      const isCovered = event.defaultPrevented || document.querySelector("dialog[open]") !== null;
      if (isCovered || session === undefined || activityOf(session) !== "working") return false;
      chat.session?.stop();
      return true;
    });
    store.watch(["current"], ({ current }) => this.#change(current));
    store.watch(["current", "status"], ({ current, status }) =>
      this.#destination.show(current, status?.platforms ?? []),
    );
    store.watch(["session"], ({ session }) => {
      if (session !== undefined) this.#show(session);
    });
  }

  get elements(): readonly HTMLElement[] {
    return [this.#transcript, this.#plan, this.#question, this.#destination, this.#composer].map(
      ({ element }) => element,
    );
  }

  focus(): void {
    this.#composer.focus();
  }

  /** Goes to one of the messages of the open chat, once it is loaded. */
  async reveal({ seq, messageId }: { readonly seq: number; readonly messageId?: string | undefined }): Promise<void> {
    const { session } = this.#chat;
    await session?.loadTo(seq);
    if (session === undefined || session !== this.#chat.session) return;
    this.#transcript.show(session.state);
    this.#transcript.reveal(
      (item) =>
        item.seq === seq ||
        (messageId !== undefined &&
          (item.kind === "user" || item.kind === "assistant") &&
          item.messageId === messageId),
    );
  }

  /** Opens the reader's last message for writing. One that cannot be replaced goes back into the field. False: there is none. */
  editLast(): boolean {
    if (this.#transcript.editLast()) return true;
    const items = this.#chat.session?.state.view.items ?? [];
    const last = items.findLast((item) => item.kind === "user" && item.sender === undefined && item.text !== "");
    if (last?.kind !== "user") return false;
    this.#composer.draft = { text: last.text, files: [] };
    return true;
  }

  /** The chat is gone, and what was written in it. */
  forget(key: string): void {
    this.#drafts.delete(key);
    this.#keptDrafts.forget(key);
    void this.#forgetCopy(key);
  }

  /** Another tab has sent just this. */
  onSentElsewhere(key: string, text: string): void {
    if (key !== this.#key) this.#drafts.delete(key);
    else if (this.#composer.draft.text === text) this.#composer.draft = { text: "", files: [] };
  }

  /** What an earlier page has left is there now. */
  restoreDraft(): void {
    const kept = this.#key === undefined ? undefined : this.#keptDrafts.get(this.#key);
    if (kept !== undefined && kept.text !== this.#composer.draft.text) this.#composer.restore(kept.text, kept.files);
  }

  /** The files of the message go along again. */
  async #replace({ contextSeq, files: sent }: UserItem, text: string): Promise<void> {
    const { session } = this.#chat;
    if (session === undefined) throw new Error("No conversation is open.");
    const files = await Promise.all(
      sent.map(async ({ filename: name, storedAs }) => {
        return {
          name,
          content: await session.loadFile(`received/${encodeURIComponent(storedAs)}`),
          uploaded: undefined,
        };
      }),
    );
    if (session !== this.#chat.session) return;
    this.#chat.send({
      text,
      mode: undefined,
      files,
      replaces: contextSeq,
      alsoToChat: this.#destination.isAlsoThere(text),
    });
    this.#transcript.stick();
    this.focus();
  }

  #earlier(seq: number): Promise<string> {
    const place = `${this.#key} ${seq}`;
    const known = this.#copies.get(place);
    if (known !== undefined) return known;
    const copy = this.#branch(seq, undefined);
    this.#copies.set(place, copy);
    copy.catch(() => this.#copies.delete(place));
    return copy;
  }

  async #forgetCopy(key: string): Promise<void> {
    for (const [place, copy] of this.#copies)
      if ((await copy.catch(() => undefined)) === key) this.#copies.delete(place);
  }

  async #branch(seq: number, text: string | undefined): Promise<string> {
    const { session } = this.#chat;
    if (session === undefined) throw new Error("No conversation is open.");
    const key = await session.branch(seq);
    if (text !== undefined) this.#keptDrafts.put(key, text, []);
    return key;
  }

  /** Keeps what the reader has written in the chat of before, and shows nothing of it any more. */
  #change(key: string | undefined): void {
    const { draft } = this.#composer;
    const isBegun = draft.text !== "" || draft.files.length > 0;
    if (this.#key !== undefined) this.#drafts.set(this.#key, draft);
    // Written before the page knew its chat: it belongs to the first one.
    else if (key !== undefined && isBegun) this.#drafts.set(key, draft);
    this.#key = key;
    this.#transcript.clear();
    this.#question.show(undefined);
    this.#plan.show(undefined);
    this.#showDraft();
  }

  #showDraft(): void {
    const key = this.#key;
    const open = key === undefined ? undefined : this.#drafts.get(key);
    const kept = key === undefined ? undefined : this.#keptDrafts.get(key);
    if (open !== undefined) this.#composer.draft = open;
    else this.#composer.restore(kept?.text ?? "", kept?.files ?? []);
  }

  #show(session: SessionState): void {
    this.#transcript.show(session);
    this.#composer.showActivity(activityOf(session));
    this.#question.show(session.question);
    this.#plan.show(session.view.plans.at(-1)?.plan);
  }
}

function activityOf({ view, question }: SessionState): Activity {
  // What a sub-agent asks is answered in its card, and what is written here goes to its parent.
  if (view.question !== undefined) return "asking";
  return isWorking(view) || question !== undefined ? "working" : "idle";
}
