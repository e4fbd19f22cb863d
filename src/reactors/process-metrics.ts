import { type IntervalHistogram, monitorEventLoopDelay, performance } from "node:perf_hooks";
import { readFamily } from "./prometheus.js";

/** The process looks at the time this often while somebody collects the metrics. */
const resolutionMs = 50;
/** Nobody has asked for so long: the machine is left to sleep. */
const forgottenMs = 10 * 60_000;
const perSecond = 1e9;

/**
 * What the process uses, under the names that other programs on Node give it, so that the same dashboards fit. The delay of
 * the event loop is that since the last time somebody asked, and is measured only while somebody does: it wakes the processor twenty times a second.
 */
export class ProcessMetrics implements Disposable {
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: resolutionMs });
  #forgetting: NodeJS.Timeout | undefined;

  text(): string {
    const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    const startedAt = (performance.timeOrigin / 1000).toFixed(3);
    const delays = this.#delays();
    return [
      readFamily("counter", "process_cpu_seconds_total", "CPU time in seconds.", [[(user + system) / 1e6]]),
      readFamily("gauge", "process_resident_memory_bytes", "Memory that the process holds.", [[rss]]),
      readFamily("gauge", "process_start_time_seconds", "Unix time of the start.", [[Number(startedAt)]]),
      readFamily("gauge", "nodejs_heap_size_used_bytes", "Heap in use.", [[heapUsed]]),
      readFamily("gauge", "nodejs_heap_size_total_bytes", "Heap that was reserved.", [[heapTotal]]),
      readFamily("gauge", "nodejs_external_memory_bytes", "Memory of buffers outside of the heap.", [[external]]),
      readFamily("gauge", "nodejs_eventloop_lag_mean_seconds", "Delay of the event loop, mean.", [[delays.mean]]),
      readFamily("gauge", "nodejs_eventloop_lag_p50_seconds", "Delay of the event loop, median.", [[delays.p50]]),
      readFamily("gauge", "nodejs_eventloop_lag_p99_seconds", "Delay of the event loop, 99th percentile.", [
        [delays.p99],
      ]),
      readFamily("gauge", "nodejs_eventloop_lag_max_seconds", "Delay of the event loop, longest.", [[delays.max]]),
    ].join("");
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#forgetting);
    this.#delay.disable();
  }

  /** What is measured is the time between two looks: what is above the pause between them is the delay. */
  #delays(): Readonly<Record<"mean" | "p50" | "p99" | "max", number>> {
    const seconds = (ns: number): number => Math.max(0, (ns - resolutionMs * 1e6) / perSecond);
    const delay = this.#delay;
    const isEmpty = delay.count === 0;
    const read = {
      mean: isEmpty ? 0 : seconds(delay.mean),
      p50: seconds(delay.percentile(50)),
      p99: seconds(delay.percentile(99)),
      max: isEmpty ? 0 : seconds(delay.max),
    };
    delay.reset();
    delay.enable();
    clearTimeout(this.#forgetting);
    this.#forgetting = setTimeout(() => delay.disable(), forgottenMs).unref();
    return read;
  }
}
