/** Of HOST:PORT, also with an IPv6 address in brackets. */
export function hostAndPort(address: string): { host: string; port: number } {
  const { hostname, port } = new URL(`tcp://${address}`);
  return { host: hostname.replaceAll(/^\[|\]$/g, ''), port: Number(port) };
}
