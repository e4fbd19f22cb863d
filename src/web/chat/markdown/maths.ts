import katex from "katex";

/**
 * MathML of a formula, which the browser draws with its own font: no style sheet, no fonts and no style attributes, which the page's policy
 * refuses. Undefined: it is not a formula that KaTeX knows.
 */
export function mathMlOf(tex: string, displayMode: boolean): string | undefined {
  try {
    const limits = { maxSize: 20, maxExpand: 300, trust: false };
    return katex.renderToString(tex, {
      output: "mathml",
      displayMode,
      throwOnError: true,
      strict: "ignore",
      ...limits,
    });
  } catch (error) {
    // The latter: braces within braces within braces …
    if (error instanceof katex.ParseError || error instanceof RangeError) return undefined;
    throw error;
  }
}
