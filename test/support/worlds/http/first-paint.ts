import type { Browser } from "playwright-core";

export interface FirstPaint {
  /** What the main thread has worked by then, in time of the processor: other programs do not count. */
  readonly workedMs: number;
  /** Of it, scripts. */
  readonly scriptMs: number;
  /** By the clock, from the navigation on: on a machine that is busy, others count most of it. */
  readonly clockMs: number;
}

const painted = `new Promise((resolve) => {
  new PerformanceObserver((list) => {
    for (const { name, startTime } of list.getEntries()) if (name === "first-contentful-paint") resolve(startTime);
  }).observe({ type: "paint", buffered: true });
})`;

/** Opens the address in a window without a past, up to its first contentful paint. */
export async function firstPaintOf(browser: Browser, url: string): Promise<FirstPaint> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    await page.goto(url, { waitUntil: "commit" });
    const clockMs = await page.evaluate<number>(painted);
    const { metrics } = await session.send("Performance.getMetrics");
    const ms = (name: string): number => (metrics.find((each) => each.name === name)?.value ?? Number.NaN) * 1000;
    return { workedMs: ms("TaskDuration"), scriptMs: ms("ScriptDuration"), clockMs };
  } finally {
    await context.close();
  }
}
