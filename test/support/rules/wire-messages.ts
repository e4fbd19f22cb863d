import type { RecordedRequest } from "../worlds/model-script.js";

/** A request's body without the marks for Anthropic's cache, which move from request to request. */
export function unmarked({ bodyText }: RecordedRequest): string {
  return bodyText.replaceAll(',"cache_control":{"type":"ephemeral"}', "");
}

/** The bytes of the conversation in a request, without the bracket that closes it. */
export function conversationIn(request: RecordedRequest): string {
  const body: { readonly messages?: readonly unknown[] } = JSON.parse(unmarked(request));
  return JSON.stringify(body.messages ?? []).slice(0, -1);
}

/** Everything that is before the conversation, as the providers' caches count it: tools and system prompt. */
export function headOf(request: RecordedRequest): string {
  const { tools, system }: { readonly tools?: unknown; readonly system?: unknown } = JSON.parse(unmarked(request));
  return JSON.stringify({ tools, system });
}

/** A message as OpenAI's wire carries it. */
export interface WireMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly unknown[];
  readonly tool_call_id?: string;
}

export function messagesOf(request: RecordedRequest): readonly WireMessage[] {
  // Written by our own provider, which its contract suite checks.
  return request.body.messages as readonly WireMessage[];
}
