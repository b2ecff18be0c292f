/** WHATWG’s URL: browsers and Node have it, but this library compiles without their types. */
declare const URL: {
  parse(address: string): { protocol: string; hostname: string; port: string } | null;
};

/** The host and port of an address, in the form that egress uses; the address itself if it has no host. */
export function endpointOf(address: string): string {
  const url = URL.parse(/^[a-z]+:\/\//i.test(address) ? address : `http://${address}`);
  if (!url?.hostname) return address;
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;
}
