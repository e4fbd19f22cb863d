import jsqr from "jsqr";

const scale = 4;

/** What a camera would read in a QR code, given as rows of dark squares. Undefined: nothing. */
export function readQrCode(rows: readonly (readonly boolean[])[]): string | undefined {
  const size = rows.length * scale;
  const pixels = new Uint8ClampedArray(size * size * 4).fill(255);
  for (const [y, row] of rows.entries())
    for (const [x, isDark] of row.entries()) {
      if (!isDark) continue;
      for (let dy = 0; dy < scale; dy++)
        for (let dx = 0; dx < scale; dx++) pixels.fill(0, ...pixelAt((y * scale + dy) * size + x * scale + dx));
    }
  return jsqr.default(pixels, size, size)?.data;
}

/** Its colours, without how opaque it is. */
function pixelAt(index: number): [number, number] {
  return [index * 4, index * 4 + 3];
}
