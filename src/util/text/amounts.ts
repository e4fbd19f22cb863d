/** `$4.20`; below a cent with as many places as it takes to see something. */
export function formatUsd(usd: number): string {
  if (usd === 0) return "$0";
  if (Math.abs(usd) >= 0.01) return `$${usd.toFixed(2)}`;
  return `$${usd.toFixed(6).replace(/0+$/, "").replace(/\.$/, "")}`;
}

/** What answers have cost of which some have no known price: nobody knows that it was nothing. */
export function formatCost(usd: number, unpricedCalls: number): string {
  if (unpricedCalls === 0) return formatUsd(usd);
  return usd === 0 ? "unknown" : `at least ${formatUsd(usd)}`;
}

/** A guessed cost: the amount, or "unknown" where it is 0 because no price is known. */
export function formatGuess(usd: number, unpricedCalls: number): string {
  return usd === 0 && unpricedCalls > 0 ? "unknown" : formatUsd(usd);
}

/** `1,234,567`. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replaceAll(/\B(?=(\d{3})+$)/g, ",");
}
