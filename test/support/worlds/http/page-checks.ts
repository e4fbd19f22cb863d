import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { projectFile } from "../../project.js";

/** Every pane of the page, by its name in the address. */
export function paneIds(): readonly string[] {
  const list = readFileSync(projectFile("src/web/panes/list.ts"), "utf8");
  return [...list.matchAll(/^ {4}id: "([a-z-]+)",$/gm)].map(([, id = ""]) => id);
}

/** What can be pressed or typed into and is in sight, and smaller than a thumb; each with its size. */
const smallTargets = `(() => {
  const found = [];
  const all = document.querySelectorAll(
    "button, a[href], input, select, textarea, summary, [role=option], [role=menuitem], [role=tab], [role=switch]",
  );
  for (const element of all) {
    if (element.disabled || element.closest("[inert]") !== null) continue;
    if (!element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
    // A link within a sentence is as high as its line; a box is pressed by its label too.
    const isInText = element.matches("a[href]") && element.closest("p, li, td, dd, .markdown") !== null;
    const target = element.matches("input[type=checkbox], input[type=radio]")
      ? (element.closest("label") ?? document.querySelector(\`label[for="\${element.id}"]\`) ?? element)
      : element.matches("input[type=search]") ? (element.closest("label") ?? element) : element;
    const { width, height, right, left } = target.getBoundingClientRect();
    const isOffScreen = width <= 1 || height <= 1 || right <= 0 || left >= innerWidth || element.matches(".skip");
    if (isInText || isOffScreen) continue;
    // Rounded: what a layout makes of 44 px may be 43.99.
    if (Math.round(height) < 44 || Math.round(width) < 24)
      found.push(\`\${element.tagName.toLowerCase()}.\${element.className} "\${(element.textContent || element.ariaLabel || element.name || "").trim().slice(0, 30)}" \${Math.round(width)}x\${Math.round(height)}\`);
  }
  return [...new Set(found)];
})()`;

export function smallTargetsIn(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(smallTargets);
}

/** What an empty field says, where it can hardly be told from the field: each with its contrast. */
const faintPlaceholders = `(() => {
  const pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const paint = (colour) => {
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...pen.getImageData(0, 0, 1, 1).data].map((each) => {
      const part = each / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const found = [];
  for (const field of document.querySelectorAll(":placeholder-shown")) {
    if (field.placeholder === "" || !field.checkVisibility({ checkVisibilityCSS: true })) continue;
    const around = [];
    for (let each = field; each !== null; each = each.parentElement) around.unshift(getComputedStyle(each).backgroundColor);
    const [ground] = around.map(paint).slice(-1);
    const text = paint(getComputedStyle(field, "::placeholder").color);
    const contrast = (Math.max(ground, text) + 0.05) / (Math.min(ground, text) + 0.05);
    if (contrast < 4.5) found.push("placeholder " + JSON.stringify(field.placeholder) + " " + contrast.toFixed(1));
  }
  return found;
})()`;

export function faintPlaceholdersIn(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(faintPlaceholders);
}

/** What sticks out at a side of the page, but not of a box of its own that scrolls. */
const overflowing = `(() => {
  const root = document.documentElement;
  const width = root.clientWidth;
  const found = root.scrollWidth > width ? ["the page is " + root.scrollWidth + " px wide"] : [];
  const scrolls = (element) => {
    for (let each = element.parentElement; each !== null; each = each.parentElement)
      if (/auto|scroll|hidden|clip/.test(getComputedStyle(each).overflowX) && each !== document.body) {
        const box = each.getBoundingClientRect();
        if (box.left >= -1 && box.right <= width + 1) return true;
      }
    return false;
  };
  for (const element of document.querySelectorAll("body *")) {
    if (element.closest("[inert], .off-screen, .skip, svg") !== null) continue;
    if (!element.checkVisibility({ checkVisibilityCSS: true })) continue;
    const { left, right, width: own } = element.getBoundingClientRect();
    if (own === 0 || (left >= -1 && right <= width + 1) || scrolls(element)) continue;
    found.push(element.tagName.toLowerCase() + "." + element.className + " " + Math.round(left) + " to " + Math.round(right));
  }
  return found.slice(0, 10);
})()`;

/** Written from the left, and from the right. */
export async function overflowIn(page: Page): Promise<readonly string[]> {
  const asItIs = await page.evaluate<readonly string[]>(overflowing);
  await page.evaluate("document.documentElement.dir = 'rtl'");
  const fromRight = await page.evaluate<readonly string[]>(overflowing);
  await page.evaluate("document.documentElement.dir = ''");
  return [...asItIs, ...fromRight.map((each) => `from right to left: ${each}`)];
}

/** The pane has read what it shows. */
export async function openPane(page: Page, url: string, id: string): Promise<void> {
  await page.goto(`${url}#/${id}`);
  await page.locator(".pane-page").waitFor();
  await page
    .locator(".pane-page [role=status]", { hasText: /^(?:Loading|加载)/ })
    .first()
    .waitFor({ state: "detached" });
  await page.waitForLoadState("networkidle");
}
