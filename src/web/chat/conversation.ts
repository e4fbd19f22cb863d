import type { UploadFile } from "../files/tray.js";
import type { OpenChat } from "../session/open-chat.js";
import { isWorking, type SessionState } from "../session/view-state.js";
import type { Store } from "../store.js";
import { type Activity, Composer, type MessageDraft } from "./composer.js";
import { createPlanPanel } from "./plan-panel.js";
import { createQuestionPanel } from "./question-panel.js";
import { Transcript } from "./transcript.js";

interface ConversationOptions {
  readonly store: Store;
  readonly chat: OpenChat;
  readonly upload: UploadFile;
  /** Read out by screen readers. */
  announce(text: string): void;
}

const noDraft: MessageDraft = { text: "", files: [] };

/** The chat that is open: what was said, what waits for the reader, and where they write. */
export class Conversation {
  readonly #transcript: Transcript;
  readonly #composer: Composer;
  readonly #question: ReturnType<typeof createQuestionPanel>;
  readonly #plan: ReturnType<typeof createPlanPanel>;
  readonly #drafts = new Map<string, MessageDraft>();
  #key: string | undefined;

  constructor({ store, chat, upload, announce }: ConversationOptions) {
    const send: OpenChat["send"] = (...message) => {
      chat.send(...message);
      this.#transcript.stick();
    };
    this.#transcript = new Transcript({
      retry: (message) => chat.session?.retry(message),
      drop: (message) => chat.session?.drop(message),
      loadOlder: () => chat.session?.loadOlder(),
      loadFile: (artifactId) =>
        chat.session?.loadFile(artifactId) ?? Promise.reject(new Error("No conversation is open.")),
    });
    this.#composer = new Composer({ send, stop: () => chat.session?.stop(), upload });
    this.#question = createQuestionPanel({
      answer: async (requestId, reply) => {
        await chat.session?.answer(requestId, reply);
        this.focus();
      },
      announce,
    });
    this.#plan = createPlanPanel({ send: (command) => send(command, undefined, []), announce });
    store.watch(["current"], ({ current }) => this.#change(current));
    store.watch(["session"], ({ session }) => {
      if (session !== undefined) this.#show(session);
    });
  }

  get elements(): readonly HTMLElement[] {
    return [this.#transcript, this.#plan, this.#question, this.#composer].map(({ element }) => element);
  }

  focus(): void {
    this.#composer.focus();
  }

  /** The chat is gone, and what was written in it. */
  forget(key: string): void {
    this.#drafts.delete(key);
  }

  /** Keeps what the reader has written in the chat of before, and shows nothing of it any more. */
  #change(key: string | undefined): void {
    if (this.#key !== undefined) this.#drafts.set(this.#key, this.#composer.draft);
    this.#key = key;
    this.#transcript.clear();
    this.#question.show(undefined);
    this.#plan.show(undefined);
    this.#composer.draft = (key === undefined ? undefined : this.#drafts.get(key)) ?? noDraft;
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
