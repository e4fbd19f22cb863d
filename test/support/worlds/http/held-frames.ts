import type { Page } from "playwright-core";

/** Runs in the page: frames, and the short timers that Preact sets beside them, wait while they are held. */
const script = `(() => {
  const [frame, soon] = [window.requestAnimationFrame.bind(window), window.setTimeout.bind(window)];
  let kept;
  const run = (act) => kept === undefined ? act() : kept.push(act);
  window.requestAnimationFrame = (draw) => frame((now) => run(() => draw(now)));
  window.setTimeout = (act, ms = 0, ...more) => soon(() => ms > 0 && ms <= 50 ? run(() => act(...more)) : act(...more), ms);
  window.frames_ = {
    hold() { kept ??= []; },
    release() { const acts = kept ?? []; kept = undefined; for (const act of acts) act(); },
  };
})();`;

/** For a page that is not opened yet: a browser so slow that what it draws has no effects (Preact's `useEffect`) while they are held. */
export async function withHeldFrames(page: Page): Promise<void> {
  await page.addInitScript(script);
}

export async function holdFrames(page: Page): Promise<void> {
  await page.evaluate("frames_.hold()");
}

export async function releaseFrames(page: Page): Promise<void> {
  await page.evaluate("frames_.release()");
}
