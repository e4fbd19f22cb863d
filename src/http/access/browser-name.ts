/** The first that fits: many name others as well, for old sites. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(e|A|iOS)?\//, "Edge"],
  [/\b(OPR|Opera)\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(Firefox|FxiOS)\//, "Firefox"],
  [/\b(Chrome|CriOS|HeadlessChrome)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];
const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bMac OS X\b/, "Mac"],
  [/\bLinux\b/, "Linux"],
];

/** `Firefox on Linux`, by what the browser says about itself. */
export function browserName(userAgent = ""): string {
  const text = userAgent.slice(0, 1000);
  const name = browsers.find(([pattern]) => pattern.test(text))?.[1] ?? /^[\w.-]{1,40}/.exec(text)?.[0];
  const system = systems.find(([pattern]) => pattern.test(text))?.[1];
  if (name === undefined) return system ?? "Unknown browser";
  return system === undefined ? name : `${name} on ${system}`;
}
