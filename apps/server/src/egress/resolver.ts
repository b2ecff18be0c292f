import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';

/** Names to addresses, by the host’s own resolver (hosts file included). */
@Injectable()
export class Resolver {
  /** All addresses, those that the host prefers first; none for a name that is not known. */
  async addresses(host: string): Promise<string[]> {
    if (isIP(host)) return [host];
    const found = await lookup(host, { all: true }).catch(() => []);
    return found.map(({ address }) => address);
  }
}
