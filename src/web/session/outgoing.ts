import type { Client } from "../../client/client.js";
import { ClientError } from "../../client/client-error.js";
import { newMessageId } from "../../client/commands.js";
import type { UploadedFile } from "../../client/upload.js";
import { addPending, dropPending, failPending } from "./view-model.js";
import type { PendingMessage, SendMode, ViewState } from "./view-state.js";

interface OutgoingOptions {
  readonly key: string;
  readonly client: Pick<Client, "sendMessage" | "state">;
  /** Resolves once the gateway knows the session and the page follows it. */
  ready(): Promise<void>;
  /** Changes what is shown of the session. */
  change(make: (view: ViewState) => ViewState): void;
}

/** The reader's messages on their way to the gateway. They are shown as pending until it has them. */
export class Outgoing {
  readonly #options: OutgoingOptions;
  readonly #delivering = new Set<string>();

  constructor(options: OutgoingOptions) {
    this.#options = options;
  }

  send(text: string, mode: SendMode, files: readonly UploadedFile[]): void {
    void this.deliver({ messageId: newMessageId(), text, mode, files, at: new Date().toISOString() });
  }

  drop({ messageId }: PendingMessage): void {
    this.#options.change((view) => dropPending(view, messageId));
  }

  /** Sends again what was neither confirmed nor refused. */
  resend(pending: readonly PendingMessage[]): void {
    for (const message of pending)
      if (message.error === undefined && !this.#delivering.has(message.messageId)) void this.deliver(message);
  }

  async deliver(message: Omit<PendingMessage, "error">): Promise<void> {
    const { key, client, ready, change } = this.#options;
    const { text, messageId, mode, files } = message;
    change((view) => addPending(view, message));
    this.#delivering.add(messageId);
    try {
      await ready();
      await client.sendMessage({ sessionKey: key, content: text, messageId, mode, attachments: files });
    } catch (error) {
      // Nobody knows whether it arrived: it stays on its way and is sent again, under the same id, by `resend`.
      if (isPassing(error) && client.state !== "open") return;
      change((view) => failPending(view, messageId, error instanceof Error ? error.message : String(error)));
    } finally {
      this.#delivering.delete(messageId);
    }
  }
}

/** True where the same thing is tried again once the connection is back. */
export function isPassing(error: unknown): boolean {
  return error instanceof ClientError && (error.kind === "lost" || error.kind === "timeout" || error.kind === "closed");
}
