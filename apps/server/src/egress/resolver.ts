import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';

/** Resolves names by the host’s own resolver (hosts file included). */
@Injectable()
export class Resolver {
  /** All addresses, in the host’s order of preference; none for an unknown name. */
  async addresses(host: string): Promise<string[]> {
    if (isIP(host)) return [host];
    const found = await lookup(host, { all: true }).catch(() => []);
    return found.map(({ address }) => address);
  }
}
