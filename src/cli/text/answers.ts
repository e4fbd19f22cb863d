import { z } from "zod";

const channelToDo = z.object({ text: z.object({ en: z.string() }), scan: z.string().optional() });
/** What the owner of a channel must do; `scan`: what a phone must scan. */
export type ChannelToDo = z.output<typeof channelToDo>;

const channelsAnswer = z.object({
  channels: z.array(
    z.object({
      name: z.string(),
      state: z.string(),
      reason: z.string().optional(),
      toDo: channelToDo.optional(),
    }),
  ),
});
const providersAnswer = z.object({
  providers: z.array(
    z.object({ name: z.string(), isConfigured: z.boolean(), hasKey: z.boolean(), isLocal: z.boolean() }),
  ),
});
const modelsAnswer = z.object({ models: z.array(z.object({ id: z.string(), name: z.string() })) });

export interface ShownChannel {
  readonly name: string;
  readonly state: string;
  readonly reason?: string | undefined;
  readonly toDo?: ChannelToDo | undefined;
}

export interface ShownModel {
  readonly id: string;
  readonly name: string;
}

/** The channels in an answer of `/api/status`. */
export function channelsIn(answer: unknown) {
  return channelsAnswer.parse(answer).channels;
}

/** The providers in an answer of `/api/providers`: those of the config, and those that need no address. */
export function providersIn(answer: unknown) {
  return providersAnswer.parse(answer).providers;
}

/** The models in an answer of `/api/providers/models`. */
export function modelsIn(answer: unknown): readonly ShownModel[] {
  return modelsAnswer.parse(answer).models;
}
