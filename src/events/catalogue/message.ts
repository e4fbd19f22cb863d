import { z } from "zod";
import { contentPart, imagePart, usage } from "../content.js";
import { both, count, guess, optionalText, spec, stopReason, text } from "./spec.js";

/** What people, the model and its tools said and made. */
export const messageEvents = {
  user_message_queued: spec("message", {
    message_id: text,
    platform_message_id: optionalText,
    channel: text,
    chat_id: text,
    thread: optionalText,
    sender_id: text,
    sender_name: optionalText,
    content: z.array(contentPart),
    /** The message that it answers, cut short. */
    quoted: z.object({ text, by: z.enum(["assistant", "sender", "other"]), name: optionalText }).optional(),
    /** Set when it is not a new message: what happened to the earlier one with the same platform_message_id. */
    change: z.enum(["edited", "deleted"]).optional(),
    mode: z.enum(["next", "append", "cancel"]),
    position: count,
    /** Set when this brings back what happened to a sub-agent's task. */
    result_of: optionalText,
    /** The answer is said in the chat of the session, too. */
    answers_to_chat: z.boolean().optional(),
    /** Set when nobody has written anything: the failed turn that is tried again, with the messages that it had. */
    retry_of: optionalText,
    /** Who has it tried again: a person, or the gateway by itself. */
    retry_by: z.enum(["person", "gateway"]).optional(),
  }),
  user_message: spec("message", {
    message_id: text,
    content: z.array(contentPart),
    iteration: count,
    /** Where those parts of the content came from that the sender did not write. */
    outside: optionalText,
    /** What its sender was to the gateway then. */
    by: z.enum(["owner", "guest"]).optional(),
    /** The web addresses in it that no model made up. */
    addresses: z.array(text).optional(),
    /** How many files came with it. */
    files: count.optional(),
  }),
  assistant_message: spec(
    "message",
    {
      message_id: text,
      content: z.array(contentPart),
      model: text,
      iteration: count,
      stop_reason: stopReason,
      usage,
      cost_usd: z.number().optional(),
      guess,
      final: z.boolean(),
      partial: z.boolean(),
      /** The command that this answers while its turn waits for a person. */
      answers: optionalText,
    },
    both,
  ),
  tool_execution_start: spec("message", {
    tool_execution_id: text,
    tool_call_id: text,
    tool_name: text,
    input: z.record(text, z.unknown()),
    iteration: count,
    origin: z.enum(["builtin", "mcp"]),
  }),
  tool_execution_complete: spec("message", {
    tool_execution_id: text,
    tool_call_id: text,
    tool_name: text,
    output: text,
    is_error: z.boolean(),
    error_code: optionalText,
    duration_ms: count,
    summary: text,
    /** Where the output came from when others wrote it. */
    outside: optionalText,
    /** Where in the output web addresses are that came from outside: anywhere, or as targets of links only. */
    addresses: z.enum(["text", "links"]).optional(),
    /** The web address that was opened with permission. */
    visited: optionalText,
    /** What the model was shown with the output. */
    images: z.array(imagePart).optional(),
  }),
  artifact_state_changed: spec(
    "message",
    {
      artifact_id: text,
      status: z.enum(["created", "ready", "failed"]),
      filename: text,
      mime_type: text,
      size_bytes: count.optional(),
      path: optionalText,
      source_tool: text,
      error: optionalText,
    },
    both,
  ),
} as const;
