import { ask } from "../parts/dialogs.js";

/** Asks for the gateway's token until the reader gives one. `isWrong`: the gateway did not accept the present one. */
export function askForToken(isWrong: boolean): Promise<string | undefined> {
  return ask({
    title: "Token needed",
    text: isWrong
      ? "The gateway did not accept this token. Please try again."
      : "This gateway is open to its owner only. Its token stands in the config as gateway.token.",
    field: { label: "Token", value: "", isSecret: true, maxLength: 1000 },
    action: "Connect",
    canCancel: false,
  });
}
