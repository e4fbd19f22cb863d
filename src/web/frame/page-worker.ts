import { textIn } from "../gateway/api.js";

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { readonly createScriptURL: () => string },
  ): { readonly createScriptURL: (text: string) => string };
}

interface PageWorkerListeners {
  /** Another version of the page is there than the one that runs. */
  onNewVersion(): void;
  /** The reader has pressed a notification about what waits. */
  onOpenInbox(id: string): void;
}

/** The worker that keeps the page's files and shows what is pushed. Without TLS only this machine has one. */
export class PageWorker {
  readonly #listeners: PageWorkerListeners;
  readonly #container = "serviceWorker" in navigator ? navigator.serviceWorker : undefined;
  /** A policy is made once. */
  readonly #address = workerAddress();
  #registration: Promise<ServiceWorkerRegistration | undefined> | undefined;

  constructor(listeners: PageWorkerListeners) {
    this.#listeners = listeners;
    let isFirst = this.#container?.controller === null;
    this.#container?.addEventListener("controllerchange", () => {
      if (!isFirst) this.#listeners.onNewVersion();
      isFirst = false;
    });
    this.#container?.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
      const said = Object(data);
      if (said.open === "inbox") this.#listeners.onOpenInbox(textIn(said.id));
    });
    this.#container?.startMessages();
  }

  /** For who is signed in. Again after each connection: the gateway may be another version by then. */
  async keep(): Promise<void> {
    const earlier = await this.#registration;
    // Where the gateway went away while the worker was being installed, nothing is registered any more.
    const isThere = [earlier?.active, earlier?.waiting, earlier?.installing].some(
      (worker) => worker instanceof ServiceWorker,
    );
    if (isThere) await earlier?.update().catch(() => undefined);
    else this.#registration = register(this.#container, this.#address);
  }

  /** Nothing of it stays in the browser. */
  async leave(): Promise<void> {
    const registration = await this.#container?.getRegistration();
    this.#registration = undefined;
    const subscription = await registration?.pushManager?.getSubscription();
    await subscription?.unsubscribe();
    if (!("caches" in window)) return;
    const prefix = `maxclaw ${new URL(".", document.baseURI).pathname} `;
    for (const name of await caches.keys()) if (name.startsWith(prefix)) await caches.delete(name);
    await registration?.unregister();
  }
}

/** Some browsers refuse, e.g. where the certificate is not valid. The page works without it. */
async function register(
  container: ServiceWorkerContainer | undefined,
  address: string,
): Promise<ServiceWorkerRegistration | undefined> {
  try {
    return await container?.register(address, { updateViaCache: "none" });
  } catch (error) {
    console.info(`The page cannot be kept for later: ${String(error)}`);
    return undefined;
  }
}

/** The policy of the page lets no other address become a worker. */
function workerAddress(): string {
  const address = "worker.js";
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  return trustedTypes?.createPolicy("page-worker", { createScriptURL: () => address }).createScriptURL("") ?? address;
}
