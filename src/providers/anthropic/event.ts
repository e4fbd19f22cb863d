import { z } from "zod";

const count = z.number().nonnegative().nullish().catch(undefined);
const text = z.string().nullish().catch(undefined);

const usage = z
  .object({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
  })
  .nullish()
  .catch(undefined);

const block = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text }),
  z.object({ type: z.literal("thinking"), thinking: text, signature: text }),
  z.object({ type: z.literal("redacted_thinking"), data: z.string() }),
  z.object({
    type: z.literal("tool_use"),
    id: text,
    name: text,
    input: z.record(z.string(), z.unknown()).nullish().catch(undefined),
  }),
]);

const delta = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text_delta"), text: z.string() }),
  z.object({ type: z.literal("thinking_delta"), thinking: z.string() }),
  z.object({ type: z.literal("signature_delta"), signature: z.string() }),
  z.object({ type: z.literal("input_json_delta"), partial_json: z.string() }),
]);

const index = z.number().int().default(0);

/** The events of a messages stream that carry something; all others fail to parse and are skipped. */
export const eventSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message_start"), message: z.object({ usage }) }),
  z.object({ type: z.literal("content_block_start"), index, content_block: block }),
  z.object({ type: z.literal("content_block_delta"), index, delta }),
  z.object({ type: z.literal("content_block_stop"), index }),
  z.object({
    type: z.literal("message_delta"),
    delta: z.object({ stop_reason: text }).nullish().catch(undefined),
    usage,
  }),
  z.object({ type: z.literal("message_stop") }),
]);

export type WireBlock = z.infer<typeof block>;
export type WireDelta = z.infer<typeof delta>;
export type WireUsage = NonNullable<z.infer<typeof usage>>;

/** A whole answer, as servers that cannot stream give it. */
const wholeSchema = z.object({ content: z.array(z.unknown()), stop_reason: text, usage: z.unknown() });

/** The events that the same answer would have had as a stream. */
export function* eventsOfWhole(body: unknown): Generator<unknown> {
  const whole = wholeSchema.safeParse(body).data;
  if (whole === undefined) return;
  yield { type: "message_start", message: { usage: whole.usage } };
  for (const [index, content] of whole.content.entries()) {
    yield { type: "content_block_start", index: index, content_block: content };
    yield { type: "content_block_stop", index: index };
  }
  yield { type: "message_delta", delta: { stop_reason: whole.stop_reason ?? "end_turn" }, usage: whole.usage };
}
