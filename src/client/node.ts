import { WebSocket } from "ws";
import { type Client, type ClientOptions, createClient as createPlainClient } from "./client.js";
import { createUpload } from "./upload.js";

export type {
  Client,
  ClientOptions,
  ClientTiming,
  CloseInfo,
  Commands,
  ConnectionState,
  EventOf,
  EventsOf,
  EventType,
  GatewayEvent,
  ListSessions,
  OpenSession,
  SendMessage,
  SentMessage,
  ServerFrame,
  SessionEntry,
  SessionStatus,
  SocketConstructor,
  SocketLike,
  StoredEvent,
  SubscribeOptions,
  Undo,
  UploadedFile,
  UploadOptions,
} from "./client.js";
export { ClientError } from "./client.js";

/** The client over the package `ws`, for Node. The token travels in a header, which no proxy writes into its log. */
export function createClient({ token, ...options }: ClientOptions): Client {
  if (options.WebSocket !== undefined) return createPlainClient({ token, ...options });
  const headers = token === undefined || token === "" ? {} : { authorization: `Bearer ${token}` };
  class NodeSocket extends WebSocket {
    constructor(url: string) {
      super(url, { headers, perMessageDeflate: false });
    }
  }
  return Object.assign(createPlainClient({ ...options, WebSocket: NodeSocket }), {
    upload: createUpload({ url: options.url, token }),
  });
}
