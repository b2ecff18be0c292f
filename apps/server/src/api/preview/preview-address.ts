import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { noSuchSession } from '../../access/caller.js';
import { Config } from '../../config.js';
import { Identity } from '../auth/identity.js';
import { PublicUrl } from '../public-url.js';

/** One port of one session. */
export interface PreviewTarget {
  readonly session: string;
  readonly port: number;
}

interface Asked {
  readonly headers: IncomingHttpHeaders;
  readonly protocol: string;
}

/** Browsers resolve its subdomains to this machine, and treat each as a separate site. */
const local = 'localhost';
const label = /^p-([a-z0-9][a-z0-9-]{0,35})-([1-9]\d{0,4})-[0-9a-f]{16}$/;

/**
 * The origins of previews: each port of each session has a host of its own, which serves nothing else. Cookies ignore
 * ports, so the name ends in a random part: no other server on this machine can make a browser send it the cookie.
 */
@Injectable()
export class PreviewAddress {
  /** Includes the port, if it differs from the dashboard’s. */
  readonly #host: string | undefined;

  constructor(
    config: Config,
    private readonly publicUrl: PublicUrl,
    private readonly identity: Identity,
  ) {
    this.#host = config.previewHost;
  }

  /** The preview that a Host header names; undefined for the server’s own hosts. */
  find(host: string | undefined): PreviewTarget | undefined {
    const [name = ''] = (host ?? '').toLowerCase().split(':', 1);
    const dot = name.indexOf('.');
    const domain = name.slice(dot + 1);
    if (dot < 0 || (domain !== local && domain !== this.#host?.split(':', 1)[0])) return undefined;
    const [, session, digits] = label.exec(name.slice(0, dot)) ?? [];
    const port = Number(digits);
    if (session === undefined || port > 65_535) return undefined;
    return name.startsWith(`${this.#label({ session, port })}.`) ? { session, port } : undefined;
  }

  /** The origin through which a request of the dashboard or a command came. */
  dashboard({ headers, protocol }: Asked): URL {
    return new URL(headers.origin ?? this.#addressed(`${protocol}://${headers.host}`));
  }

  /** The preview’s address for a browser that uses the server at this origin. Throws when there is none. */
  origin(target: PreviewTarget, dashboard: URL): string {
    const domain = this.#domain(dashboard);
    const name = this.#label(target);
    if (domain === undefined) throw new AppError('conflict', noHost(dashboard.hostname));
    if (!label.test(name)) throw noSuchSession(target.session);
    return `${dashboard.protocol}//${name}.${domain}`;
  }

  /** The origins that the dashboard may frame, as a source list for a content security policy. */
  frameSources(host = ''): string {
    const dashboard = `http://${host}`;
    const domain = URL.canParse(dashboard) ? this.#domain(new URL(dashboard)) : undefined;
    return domain === undefined ? "'none'" : `*.${domain}`;
  }

  /** The origins that may frame a preview’s pages before it knows its dashboard. */
  dashboards(host = ''): string {
    const [name = '', port = ''] = host.toLowerCase().split(':');
    if (!name.endsWith(`.${local}`)) return this.publicUrl.url ?? "'none'";
    return ['127.0.0.1', local].map((each) => each + (port && `:${port}`)).join(' ');
  }

  #label({ session, port }: PreviewTarget): string {
    const place = `${session}-${port}`;
    const mac = createHmac('sha256', this.identity.token).update(`preview ${place}`);
    return `p-${place}-${mac.digest('hex').slice(0, 16)}`;
  }

  /** Without an origin, only a public address tells whether there is TLS in front. */
  #addressed(url: string): string {
    const { url: known, host } = this.publicUrl;
    return known !== undefined && new URL(url).hostname === host ? known : url;
  }

  #domain({ hostname, port }: URL): string | undefined {
    const suffix = port && `:${port}`;
    if (
      hostname === local ||
      hostname === '[::1]' ||
      (hostname.startsWith('127.') && isIP(hostname))
    )
      return local + suffix;
    if (this.#host === undefined || this.#host.includes(':')) return this.#host;
    return this.#host + suffix;
  }
}

const noHost = (name: string): string =>
  `Previews need host names of their own, and ${name} has none. Open the dashboard at http://localhost on the server’s machine, or set BELAY_PREVIEW_HOST to a domain whose subdomains lead to this server.`;
