import { z } from "zod";

/** What comes over the socket. https://docs.slack.dev/apis/events-api/using-socket-mode */
const envelope = z.looseObject({
  type: z.string(),
  envelope_id: z.string().optional(),
  reason: z.string().optional(),
  num_connections: z.number().optional(),
  accepts_response_payload: z.boolean().optional(),
  payload: z.unknown().optional(),
});
export type Envelope = z.infer<typeof envelope>;

const eventPayload = z.looseObject({
  team_id: z.string().nullish(),
  authorizations: z.array(z.looseObject({ team_id: z.string().nullish(), user_id: z.string().nullish() })).nullish(),
  event: z.unknown(),
});
export type EventPayload = z.infer<typeof eventPayload>;

const command = z.looseObject({
  command: z.string(),
  text: z.string().default(""),
  user_id: z.string(),
  user_name: z.string().optional(),
  channel_id: z.string(),
  team_id: z.string().optional(),
  enterprise_id: z.string().nullish(),
  trigger_id: z.string().optional(),
});
export type SlashCommand = z.infer<typeof command>;

const press = z.looseObject({
  type: z.literal("block_actions"),
  user: z.looseObject({ id: z.string(), name: z.string().optional(), team_id: z.string().optional() }),
  channel: z.looseObject({ id: z.string() }),
  message: z.looseObject({ thread_ts: z.string().optional(), ts: z.string().optional() }).optional(),
  actions: z.array(z.looseObject({ value: z.string().optional() })).min(1),
});
export type BlockPress = z.infer<typeof press>;

/** Undefined for what is not an envelope. */
export function parseEnvelope(data: Buffer): Envelope | undefined {
  try {
    return envelope.safeParse(JSON.parse(data.toString())).data;
  } catch {
    // Not JSON.
    return undefined;
  }
}

export function eventIn({ payload }: Envelope): EventPayload | undefined {
  return eventPayload.safeParse(payload).data;
}

export function commandIn({ payload }: Envelope): SlashCommand | undefined {
  return command.safeParse(payload).data;
}

export function pressIn({ payload }: Envelope): BlockPress | undefined {
  return press.safeParse(payload).data;
}
