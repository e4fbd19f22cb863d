import { sentenceOf } from "../../failures/said.js";
import type { Api } from "../../gateway/api.js";
import { textIn } from "../../gateway/api.js";
import { languageOfPage } from "../../words/words.js";
import { keepAttention, readAttention } from "./attention.js";
import { inboxWords } from "./words.js";

type PushApi = Pick<Api, "get" | "post">;

/** Where the browser can be reached while the page is closed. On an iPhone only the installed page can. */
export function canPush(): boolean {
  return "serviceWorker" in navigator && "PushManager" in window;
}

/** Has the gateway push what waits to this device, or again with another choice. */
export async function turnPushOn(api: PushApi, quietNights: boolean): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration();
  if (registration === undefined) throw new Error(inboxWords.t("pushNotReady"));
  const publicKey = textIn((await api.get("api/push")).publicKey);
  const known = await registration.pushManager.getSubscription();
  const isOurs = known !== null && toBase64Url(known.options.applicationServerKey) === publicKey;
  // A browser keeps a subscription for one key only.
  if (known !== null && !isOurs) await known.unsubscribe();
  const subscription = isOurs ? known : await subscribe(registration, publicKey);
  const body = { subscription: subscription.toJSON(), language: languageOfPage(), quietNights };
  await api.post("api/push", body);
  keepAttention(localStorage, { ...readAttention(localStorage), quietNights, push: true });
}

export async function turnPushOff(api: PushApi): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration();
  const subscription = await registration?.pushManager.getSubscription();
  if (subscription) await api.post("api/push/remove", { endpoint: subscription.endpoint });
  await subscription?.unsubscribe();
  keepAttention(localStorage, { ...readAttention(localStorage), push: false });
}

async function subscribe(registration: ServiceWorkerRegistration, publicKey: string): Promise<PushSubscription> {
  try {
    return await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
  } catch (error) {
    throw new Error(inboxWords.t("pushRefused", { why: sentenceOf(error) }));
  }
}

function toBase64Url(bytes: ArrayBuffer | null): string {
  const text = String.fromCharCode(...new Uint8Array(bytes ?? new ArrayBuffer()));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
