/** WHATWG’s URL, which browsers and Node have and this library compiles without. */
declare const URL: {
  parse(address: string): { protocol: string; hostname: string; port: string } | null;
};

/** Host and port of an address, as egress names them; the address itself when it has none. */
export function endpointOf(address: string): string {
  const url = URL.parse(/^[a-z]+:\/\//i.test(address) ? address : `http://${address}`);
  if (!url?.hostname) return address;
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;
}
