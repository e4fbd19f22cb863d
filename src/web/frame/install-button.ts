import { h } from "../parts/dom.js";
import { frameWords } from "./words.js";

/** What Chromium and Edge say when the page can be installed. */
interface InstallOffer extends Event {
  prompt(): Promise<unknown>;
}

/** Below the chats, where the browser offers it and only then. Nothing comes up by itself. */
export function createInstallButton(): HTMLElement {
  let offer: InstallOffer | undefined;
  const onclick = (): void => {
    button.hidden = true;
    void offer?.prompt();
  };
  const button = h("button", { type: "button", class: "link install", hidden: true, onclick }, frameWords.t("install"));
  window.addEventListener("beforeinstallprompt", (event) => {
    event.preventDefault();
    // The event of this name has it; TypeScript does not know the event.
    offer = event as InstallOffer;
    button.hidden = false;
  });
  window.addEventListener("appinstalled", () => {
    button.hidden = true;
  });
  return button;
}
