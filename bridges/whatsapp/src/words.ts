import type { LinkState } from "./whatsapp.js";

/** How the bridge is, as a sentence for its owner. Undefined: all is well, or will be in a moment. */
export function sentenceOf(state: LinkState): string | undefined {
  switch (state.state) {
    case "connecting":
    case "connected":
    case "renewed":
      return undefined;
    case "code":
      return "Scan this code with the phone: WhatsApp → Settings → Linked devices → Link a device.";
    case "lost":
      return `The connection to WhatsApp is lost: ${state.why}. The bridge tries again.`;
    case "logged-out":
      return "WhatsApp has logged this device out: it was removed on the phone, or WhatsApp did it. Scan the new code.";
    case "replaced":
      return "Another program uses the same login, so WhatsApp has closed this connection. End the other program, then start the bridge again.";
    case "refused":
      return `WhatsApp does not let this device in: ${state.why}. Correct that, then start the bridge again.`;
    default:
      return state satisfies never;
  }
}

/** As gateways get it. The Go maxclaw reads the status alone. */
export function framesOf(state: LinkState): readonly object[] {
  const status = state.state === "connected" ? "connected" : "disconnected";
  const told = { type: "status", status, text: sentenceOf(state), reason: state.state };
  return state.state === "code" ? [told, { type: "qr", qr: state.code }] : [told];
}
