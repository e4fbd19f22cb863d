import { existsSync } from "node:fs";

/** Where systems keep a Chromium or Chrome. */
const usualPaths = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/snap/bin/chromium",
  "/opt/google/chrome/chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
  "C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe",
] as const;

/** The browser that the config names, or the system's. Undefined where there is none. */
export function findChromium(configured: string | undefined): string | undefined {
  if (configured !== undefined) return existsSync(configured) ? configured : undefined;
  return usualPaths.find((path) => existsSync(path));
}
