import { h } from "../../parts/dom.js";
import { type QrCode, qrCodeOf } from "../../parts/qr-code.js";
import { localeOfPage } from "../../words/language.js";
import type { InvitationView } from "./devices-http.js";
import { devicesWords } from "./words.js";

/** A picture for the camera of a phone, and the link for where there is none. */
export async function invitationCard({ url, expiresAt, warning }: InvitationView): Promise<HTMLElement> {
  const until = expiresAt.toLocaleTimeString(localeOfPage(), { hour: "2-digit", minute: "2-digit" });
  const link = h("input", { type: "text", readonly: true, value: url, "aria-label": devicesWords.t("link") });
  const copy = h("button", { type: "button", class: "quiet" }, devicesWords.t("copy"));
  copy.addEventListener("click", () => {
    link.select();
    // Without TLS a browser has no clipboard: the link is selected then.
    navigator.clipboard?.writeText(url).then(
      () => {
        copy.textContent = devicesWords.t("copied");
      },
      () => undefined,
    );
  });
  return h(
    "div",
    { class: "invitation-card" },
    qrPicture(await qrCodeOf(url)),
    h("p", {}, devicesWords.t("camera", { time: until })),
    warning === undefined ? undefined : h("p", { class: "invitation-warning" }, warning),
    h("div", { class: "invitation-link" }, link, copy),
  );
}

const svg = "http://www.w3.org/2000/svg";

/** Dark on light in every theme: cameras do not read the other way round. */
function qrPicture({ size, path: squares }: QrCode): SVGSVGElement {
  const picture = document.createElementNS(svg, "svg");
  picture.setAttribute("viewBox", `0 0 ${size} ${size}`);
  picture.setAttribute("class", "qr");
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", devicesWords.t("qr"));
  const path = document.createElementNS(svg, "path");
  path.setAttribute("d", squares);
  picture.append(path);
  return picture;
}
