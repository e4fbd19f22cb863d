import { z } from "zod";

const channelsAnswer = z.object({
  channels: z.array(z.object({ name: z.string(), state: z.string(), reason: z.string().optional() })),
});
const providersAnswer = z.object({ providers: z.array(z.object({ name: z.string(), isConfigured: z.boolean() })) });
const modelsAnswer = z.object({ models: z.array(z.object({ id: z.string(), name: z.string() })) });

export interface ShownModel {
  readonly id: string;
  readonly name: string;
}

/** The channels in an answer of `/api/status`. */
export function channelsIn(answer: unknown) {
  return channelsAnswer.parse(answer).channels;
}

/** The names of the providers in an answer of `/api/providers` that the config has a section for. */
export function configuredIn(answer: unknown): readonly string[] {
  return providersAnswer.parse(answer).providers.flatMap(({ name, isConfigured }) => (isConfigured ? [name] : []));
}

/** The models in an answer of `/api/providers/models`. */
export function modelsIn(answer: unknown): readonly ShownModel[] {
  return modelsAnswer.parse(answer).models;
}
