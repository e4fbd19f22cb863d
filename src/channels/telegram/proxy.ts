import type { Agent } from "node:http";

/** An agent whose connections go through a proxy: SOCKS, or CONNECT over HTTP. Loaded only where a proxy is set. */
export async function openProxyAgent(proxy: URL, freeSocketMs: number): Promise<Agent> {
  const options = { keepAlive: true, timeout: freeSocketMs };
  if (proxy.protocol.startsWith("socks")) {
    const { SocksProxyAgent } = await import("socks-proxy-agent");
    return new SocksProxyAgent(proxy, options);
  }
  const { HttpsProxyAgent } = await import("https-proxy-agent");
  return new HttpsProxyAgent(proxy, options);
}
