import { usage } from "../content.js";
import { both, count, spec, stopReason, text } from "./spec.js";

/** What an answer is while it is written. Never stored. */
export const streamEvents = {
  message_stream_start: spec("stream", { message_id: text, model: text, iteration: count }),
  text_delta: spec("stream", { message_id: text, text }, both),
  thinking_delta: spec("stream", { message_id: text, text }),
  tool_call_start: spec("stream", { message_id: text, tool_call_id: text, tool_name: text }),
  tool_input_delta: spec("stream", { tool_call_id: text, partial_json: text }),
  message_stream_end: spec("stream", { message_id: text, stop_reason: stopReason, usage }),
} as const;
