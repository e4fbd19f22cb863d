import { WebSocket } from "ws";

export interface WebFramesOptions {
  readonly url: string;
  readonly protocol: string;
  readonly maxBytes: number;
  readonly ca?: string | undefined;
  readonly rejectUnauthorized?: boolean | undefined;
}

export interface WebFramesEvents {
  readonly onOpen: () => void;
  readonly onText: (text: string) => void;
  readonly onError: (error: Error) => void;
  readonly onClose: () => void;
}

/** One WebSocket that carries texts, for who minds its life themselves; {@link keepSocket} does it for all others. */
export interface WebFrames {
  send(text: string): void;
  /** `isPolite`: what was sent still leaves. */
  end(isPolite: boolean): void;
}

export function openWebFrames(options: WebFramesOptions, events: WebFramesEvents): WebFrames {
  const { url, protocol, maxBytes, ca, rejectUnauthorized } = options;
  const trust = {
    ...(ca === undefined ? {} : { ca }),
    ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
  };
  const socket = new WebSocket(url, [protocol], { maxPayload: maxBytes, perMessageDeflate: false, ...trust });
  socket.on("open", events.onOpen);
  socket.on("message", (data) => events.onText(String(data)));
  socket.on("error", events.onError);
  socket.on("close", events.onClose);
  return {
    send: (text) => socket.send(text, () => undefined),
    end(isPolite) {
      if (isPolite) socket.close();
      else socket.terminate();
    },
  };
}
