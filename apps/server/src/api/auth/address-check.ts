import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Config } from '../../config.js';
import { isPassedOn } from '../../peers/introduced-caller.js';
import { PublicUrl } from '../public-url.js';

/**
 * Refuses requests that a foreign page sends through the user’s browser: the Host must be one of ours (a rebound DNS
 * name is not), and an Origin, if present, must match the Host. What another server passes on was checked there.
 */
@Injectable()
export class AddressCheck {
  readonly #names: ReadonlySet<string>;

  constructor(
    config: Config,
    private readonly publicUrl: PublicUrl,
  ) {
    this.#names = new Set(['localhost', config.host.toLowerCase(), ...config.allowedHosts]);
  }

  /** The reason why a request is refused; undefined when it is fine. */
  fault({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): string | undefined {
    if (isPassedOn(socket)) return undefined;
    const { host, origin } = headers;
    const name = host && hostname(host);
    const isOurs = (each: string) =>
      this.#names.has(each) || each === this.publicUrl.host || isAddress(each);
    if (!name || !isOurs(name)) {
      return `This server does not serve the host name ${host ?? '(none)'}. Add it to BELAY_ALLOWED_HOSTS.`;
    }
    if (origin === undefined) return undefined;
    const from = URL.canParse(origin) ? new URL(origin).host : '';
    return from === host.toLowerCase() ? undefined : 'Requests from other sites are refused.';
  }
}

function hostname(host: string): string | undefined {
  const url = `http://${host}`;
  if (!/^[\w.:[\]-]+$/.test(host) || !URL.canParse(url)) return undefined;
  return new URL(url).hostname;
}

/** An IP address needs no DNS lookup, so DNS rebinding does not apply to it. */
const isAddress = (name: string): boolean => isIP(name.replace(/^\[|\]$/g, '')) !== 0;
