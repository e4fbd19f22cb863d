/** A QR code as the path of an SVG picture, with one unit for each square. */
export interface QrCode {
  readonly size: number;
  readonly path: string;
}

export async function qrCodeOf(text: string): Promise<QrCode> {
  const { encode } = await import("uqr");
  const rows = encode(text, { ecc: "M", border: 4 }).data;
  const squares = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return { size: rows.length, path: squares.join("") };
}
