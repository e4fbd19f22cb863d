import type { Engine } from "../../engine/engine.js";
import { EngineError, RequestError } from "../../errors.js";
import type { EventConsumer } from "../../events/bus/system-bus.js";
import type { Intake } from "../../inbound/intake.js";
import type { Uploads } from "../../inbound/uploads.js";
import type { SessionStore } from "../../sessions/session-store.js";
import type { Lifecycle } from "../sessions/lifecycle.js";
import { assertOwnId, waitForTurn } from "../turns/wait-for-turn.js";
import type { MessagesApi } from "./messages-api.js";
import { checkSend, toInbound } from "./send-request.js";

export interface MessagePorts {
  readonly engine: Pick<Engine, "events">;
  readonly bus: EventConsumer;
  readonly sessions: Pick<SessionStore, "open">;
  readonly lifecycle: Pick<Lifecycle, "assertTakes">;
  readonly intake: Pick<Intake, "submit">;
  readonly uploads: Pick<Uploads, "folder" | "hand">;
  /** Those of platforms. */
  readonly channels: { has(name: string): boolean };
  /** Unix ms. */
  readonly now: () => number;
}

/** Messages to the assistant, and how their turns end. */
export function createMessageOperations(ports: MessagePorts): MessagesApi {
  const { lifecycle, intake, uploads, channels } = ports;
  return {
    async send(request) {
      checkSend(request, { uploads: uploads.folder, channels });
      await lifecycle.assertTakes(request);
      const message = toInbound(request, ports.now());
      const { id, sessionKey, attachments, channel, senderId } = message;
      const by = `${channel}:${senderId}`;
      const take = attachments.length === 0 ? undefined : () => uploads.hand(sessionKey, id, attachments, by);
      try {
        const status = await intake.submit(message, take);
        if (status === "duplicate") await assertOwnId(sessionKey, id, ports);
        return { messageId: id, status };
      } catch (error) {
        throw whyNotTaken(error);
      }
    },
    waitForTurn: (sessionKey, messageId, signal) => waitForTurn(ports, sessionKey, messageId, signal),
  };
}

function whyNotTaken(error: unknown): unknown {
  if (!(error instanceof EngineError)) return error;
  switch (error.kind) {
    case "buffer_full":
    case "lane_full":
      return new RequestError("Too many messages are waiting. Try again in a minute.", {
        status: 429,
        code: "BUFFER_FULL",
        retryAfterMs: 10_000,
        cause: error,
      });
    case "persistence":
    case "closed":
      return new RequestError(error.message, {
        status: 503,
        code: "PERSISTENCE_FAILED",
        retryAfterMs: 5000,
        cause: error,
      });
    default:
      return error;
  }
}
