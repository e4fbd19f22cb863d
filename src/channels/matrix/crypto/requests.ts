import { z } from "zod";
import { type ApiCall, type MatrixApi, part } from "../api.js";
import type { CryptoLibrary, OlmMachine } from "./library.js";

type Outgoing = Awaited<ReturnType<OlmMachine["outgoingRequests"]>>[number];

const keyMs = 60_000;

/** What the machine wants to have sent, as a call; undefined: nothing that the bot does. */
function callOf(request: Outgoing, { RequestType }: CryptoLibrary["wasm"]): ApiCall | undefined {
  const post = (path: string, what: string): ApiCall => ({
    method: "POST",
    path: `/client/v3/keys/${path}`,
    body: bodyOf(request.body),
    ms: keyMs,
    what,
  });
  switch (request.type) {
    case RequestType.KeysUpload:
      return post("upload", "the bot's keys");
    case RequestType.KeysQuery:
      return post("query", "the keys of people");
    case RequestType.KeysClaim:
      return post("claim", "keys for a talk with a device");
    case RequestType.SignatureUpload:
      return post("signatures/upload", "the bot's signatures");
    default:
      if (!("txn_id" in request) || "room_id" in request) return undefined;
      return {
        method: "PUT",
        path: `/client/v3/sendToDevice/${part(request.event_type)}/${part(request.txn_id)}`,
        body: bodyOf(request.body),
        ms: keyMs,
        what: "keys for devices",
      };
  }
}

const anything = z.record(z.string(), z.unknown());

/** The machine gives JSON; a number without quotes in it can be larger than JavaScript knows, but none is. */
function bodyOf(json: string): object {
  return anything.parse(JSON.parse(json));
}

/** Sends what the machine asks for, and tells it the answer. @throws {ChannelError} */
export async function sendRequest(
  {
    machine,
    wasm,
    api,
  }: { readonly machine: OlmMachine; readonly wasm: CryptoLibrary["wasm"]; readonly api: MatrixApi },
  request: Outgoing,
  signal: AbortSignal,
): Promise<void> {
  const call = callOf(request, wasm);
  if (call === undefined) return;
  const answer = await api.call(call, signal);
  if (request.id !== undefined) await machine.markRequestAsSent(request.id, request.type, JSON.stringify(answer));
}
