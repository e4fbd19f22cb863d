import { sentenceOf } from "../failures/said.js";
import { type Api, Unauthorized } from "../gateway/api.js";
import { h, setText } from "../parts/dom.js";
import { frameWords } from "./words.js";

/** Gets this device in: by the invitation if there is one, else by the token, which is asked for until it is right. */
export async function signIn(api: Api, invitation: string | undefined): Promise<void> {
  let problem = frameWords.t("ownerOnly");
  if (invitation !== undefined) {
    const failure = await failureOf(() => api.post("api/join", { code: invitation }), frameWords.t("invitationUsed"));
    if (failure === undefined) return;
    problem = failure;
  }
  const wrong = frameWords.t("wrongToken");
  await askForToken(problem, {
    enter: (token) => failureOf(() => api.post("api/login", { token }), wrong),
    isIn: async () => (await failureOf(() => api.get("api/status"), wrong)) === undefined,
  });
}

interface Entrance {
  /** Resolves with what was wrong. */
  enter(token: string): Promise<string | undefined>;
  /** Another tab of this browser may have got in meanwhile. */
  isIn(): Promise<boolean>;
}

/** Resolves once `enter` has found nothing wrong with what the reader gave, or somebody is in. */
function askForToken(problem: string, { enter, isIn }: Entrance): Promise<void> {
  const text = h("p", { role: "status" }, problem);
  const input = h("input", {
    type: "password",
    id: "dialog-field",
    autocomplete: "off",
    maxlength: "1000",
    required: true,
  });
  const connect = h("button", { type: "submit", class: "primary" }, frameWords.t("connect"));
  const form = h(
    "form",
    { method: "dialog" },
    h("h2", { id: "dialog-title" }, frameWords.t("tokenNeeded")),
    text,
    h("label", { for: "dialog-field" }, frameWords.t("token")),
    input,
    h("div", { class: "dialog-actions" }, connect),
  );
  const dialog = h("dialog", { "aria-labelledby": "dialog-title", "data-stays": "" }, form);
  const submit = async (): Promise<void> => {
    const token = input.value.trim();
    if (token === "" || connect.disabled) return;
    connect.disabled = true;
    const failure = await enter(token);
    connect.disabled = false;
    if (failure === undefined) return dialog.close();
    setText(text, failure);
    input.select();
  };
  const look = async (): Promise<void> => {
    if (!document.hidden && input.value === "" && (await isIn())) dialog.close();
  };
  const onReturn = (): void => void look();
  document.body.append(dialog);
  return new Promise((resolve) => {
    window.addEventListener("focus", onReturn);
    document.addEventListener("visibilitychange", onReturn);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void submit();
    });
    // There is no way on without it.
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.addEventListener("close", () => {
      dialog.remove();
      window.removeEventListener("focus", onReturn);
      document.removeEventListener("visibilitychange", onReturn);
      resolve();
    });
    dialog.showModal();
    input.focus();
  });
}

async function failureOf(call: () => Promise<unknown>, wrong: string): Promise<string | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error instanceof Unauthorized ? wrong : sentenceOf(error);
  }
}
