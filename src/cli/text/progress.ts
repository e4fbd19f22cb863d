/** How far a long check is. */
export interface Progress {
  readonly filesDone: number;
  readonly files: number;
  readonly events: number;
}

interface ProgressLine extends Disposable {
  /** May be called as often as one likes. */
  readonly show: (progress: Progress) => void;
  /** Takes the line off the terminal. Does nothing when called again. */
  readonly end: () => void;
}

const everyMs = 500;

/** One line on a terminal that changes in its place, and lines where `always` asks for them; else nothing. */
export function openProgress(
  stream: { readonly isTTY?: boolean; write(text: string): unknown },
  always: boolean,
): ProgressLine {
  const isTerminal = stream.isTTY === true;
  let shownAt = Number.NEGATIVE_INFINITY;
  let isShown = false;
  const show = ({ filesDone, files, events }: Progress): void => {
    const isLast = filesDone === files;
    if (!(isTerminal || always) || (performance.now() - shownAt < everyMs && !isLast)) return;
    shownAt = performance.now();
    const percent = files === 0 ? 100 : Math.floor((100 * filesDone) / files);
    const text = `${percent} %: ${filesDone} of ${files} logs, ${events} events`;
    // To the start of the line, and clear it.
    stream.write(isTerminal ? `\r\u001b[2K${text}` : `${text}\n`);
    isShown = true;
  };
  const end = (): void => {
    if (isTerminal && isShown) stream.write("\r\u001b[2K");
    isShown = false;
  };
  return { show, end, [Symbol.dispose]: end };
}
