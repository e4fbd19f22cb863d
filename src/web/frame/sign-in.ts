import { type Api, Refused, Unauthorized } from "../gateway/api.js";
import { ask } from "../parts/dialogs.js";

const explanation = "This gateway is open to its owner only. Its token is gateway.token in the config.";

/** Gets this device in: by the invitation if there is one, else by the token, which is asked for until it is right. */
export async function signIn(api: Api, invitation: string | undefined): Promise<void> {
  let problem = explanation;
  if (invitation !== undefined) {
    const failure = await failureOf(
      () => api.post("api/join", { code: invitation }),
      "This invitation is used or too old. Make a new one on a device that is signed in, or enter the token.",
    );
    if (failure === undefined) return;
    problem = failure;
  }
  for (;;) {
    const token = await ask({
      title: "Token needed",
      text: problem,
      field: { label: "Token", value: "", isSecret: true, maxLength: 1000 },
      action: "Connect",
      canCancel: false,
    });
    if (token === undefined) continue;
    const wrong = "The gateway did not accept this token. Please try again.";
    const failure = await failureOf(() => api.post("api/login", { token }), wrong);
    if (failure === undefined) return;
    problem = failure;
  }
}

async function failureOf(call: () => Promise<unknown>, wrong: string): Promise<string | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    if (error instanceof Unauthorized) return wrong;
    if (error instanceof Refused) return error.message;
    return "The gateway does not answer. Please try again.";
  }
}
