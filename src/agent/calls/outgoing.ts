import type { InboundMessage } from "../../bus/messages.js";
import type { Work } from "../../engine/engine.js";
import type { Payload } from "../../events/catalogue.js";
import { noUsage } from "../../events/content.js";
import type { EventDraft } from "../../events/event.js";
import type { ToolArtifact, ToolCallChat } from "../../tools/tool.js";
import { derivedId } from "../../util/ids.js";
import type { AgentPorts } from "../ports.js";
import { queuedReplies } from "../turn/own-words.js";
import type { TurnLog } from "../turn/turn-log.js";

interface OutgoingScope {
  readonly ports: Pick<AgentPorts, "chat" | "files">;
  readonly message: InboundMessage;
  readonly log: TurnLog;
  /** The same when the call runs again after a crash. */
  readonly executionId: string;
  readonly toolName: string;
  /** Notes that a copy is what its file is. */
  readonly copied: (from: string, to: string) => Promise<void>;
}

/**
 * What a call shows to people: durable together with the events that tell about it, before the call goes on. All ids come
 * of the execution's, so that the engine knows what a call that runs again has sent already.
 */
export function createOutgoing(scope: OutgoingScope): Pick<ToolCallChat, "send" | "artifact"> {
  const { executionId, log, message, ports } = scope;
  let sends = 0;
  let artifacts = 0;

  const worksOf = (
    content: string,
    more: Partial<Parameters<ToolCallChat["send"]>[0]>,
  ): { readonly replyId: string; readonly works: readonly Work<"outbound">[] } => {
    sends += 1;
    const replyId = `${executionId}-n${sends}`;
    const { to, attachments } = more;
    const elsewhere =
      to === undefined ? {} : { ...to, thread: to.thread, platformMessageId: undefined, taskId: undefined };
    // A person may be written to also where nobody waits for an answer.
    const chat = { ...message, internal: undefined, ...elsewhere };
    const works = ports.chat
      .replies(chat, replyId, content, log.turnId, attachments)
      .map((work) => ({ ...work, body: { ...work.body, queuedEventId: derivedId("evt", work.id) } }));
    return { replyId, works };
  };

  return {
    async send({ content, attachments, to }) {
      const { replyId, works } = worksOf(content, { attachments, to });
      const events =
        works.length > 0 ? queuedReplies(log, works) : to === undefined ? [said(log, replyId, content)] : [];
      await log.append(events, true, works);
      return works.length;
    },

    async artifact({ path, filename: wanted, content = "" }) {
      artifacts += 1;
      const artifactId = derivedId("art", executionId, artifacts);
      const file = ports.files.artifacts.describe(path, wanted);
      const toEvent = artifactEvents(scope, artifactId, file);
      await log.append([toEvent("created", {})]);
      const kept = await ports.files.artifacts.keep(message.sessionKey, artifactId, { path, filename: file.filename });
      if ("sentence" in kept) {
        await log.append([toEvent("failed", { error: kept.sentence })]);
        return { ok: false, sentence: kept.sentence };
      }
      await scope.copied(path, kept.path);
      const attachment = { ...kept, ...file };
      const { replyId, works } = worksOf(content, { attachments: [attachment] });
      const words = works.length > 0 || content === "" ? [] : [said(log, replyId, content)];
      const ready = toEvent("ready", { path: kept.path, size_bytes: kept.sizeBytes });
      await log.append([...words, ready, ...queuedReplies(log, works)], true, works);
      const isShown = works.length === 0 || works.some(({ body }) => body.attachments.length > 0);
      return { ok: true, artifactId, file: attachment, isShown } satisfies ToolArtifact;
    },
  };
}

function artifactEvents(
  { log, toolName }: OutgoingScope,
  artifactId: string,
  { filename, mimeType }: { readonly filename: string; readonly mimeType: string },
) {
  return (
    status: Payload<"artifact_state_changed">["status"],
    more: Pick<Payload<"artifact_state_changed">, "error" | "path" | "size_bytes">,
  ): EventDraft => {
    const payload = { artifact_id: artifactId, status, filename, mime_type: mimeType, source_tool: toolName, ...more };
    return {
      ...log.draft("artifact_state_changed", payload, `tool:${toolName}`),
      event_id: derivedId("evt", artifactId, status),
    };
  };
}

/** For people who read the session's events: shown like an answer, and never part of what the model sees. */
function said(log: TurnLog, replyId: string, text: string): EventDraft {
  const payload = {
    message_id: derivedId("msg", replyId),
    content: [{ type: "text" as const, text }],
    model: "none",
    iteration: 0,
    stop_reason: "end_turn" as const,
    usage: noUsage,
    final: false,
    partial: false,
  };
  return { ...log.draft("assistant_message", payload, "gateway"), event_id: derivedId("evt", replyId) };
}
