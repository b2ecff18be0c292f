import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Injectable, Logger } from '@nestjs/common';
import { AppError, previewPath, problemOf } from '@belay/protocol';
import { assertMay } from '../../access/caller.js';
import { Identity } from '../auth/identity.js';
import { sentError } from '../problem.js';
import { refuseOnSocket } from '../../refuse-on-socket.js';
import { PreviewAddress, type PreviewTarget } from './preview-address.js';
import { grantCookie, grantSecrets } from './preview-cookies.js';
import { grantMs, PreviewGrants, type PreviewGrant } from './preview-grants.js';
import { framedBy, ownHeaders } from './preview-headers.js';
import { pagePolicy, sentencePage, stepPage } from './preview-page.js';
import { forwardRequest, forwardUpgrade } from './preview-proxy.js';
import { PreviewStreams } from './preview-streams.js';

/** The only path of a preview that the server handles itself. */
export const openPath = '/.belay/open';

/**
 * Serves the hosts of previews. They give no access to the server itself: neither routes nor the dashboard, and logins
 * do not count there. A request is forwarded if it comes from the preview’s own page and has the cookie that was
 * exchanged for a ticket.
 */
@Injectable()
export class PreviewServer {
  readonly #logger = new Logger('Preview');

  constructor(
    private readonly addresses: PreviewAddress,
    private readonly grants: PreviewGrants,
    private readonly streams: PreviewStreams,
    private readonly identity: Identity,
  ) {}

  /** Returns whether the request is for a preview, in which case it is handled. */
  take(request: IncomingMessage, response: ServerResponse): boolean {
    const target = this.addresses.find(request.headers.host);
    if (!target) return false;
    void this.#serve(request, response, target).catch((error: unknown) =>
      this.fail(request, response, { error }),
    );
    return true;
  }

  /** Like `take`, for an upgrade. */
  takeUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const target = this.addresses.find(request.headers.host);
    if (!target) return false;
    socket.on('error', () => socket.destroy());
    void this.#upgrade(request, socket, { target, head }).catch((error: unknown) =>
      refuseOnSocket(socket, sentError(error, this.#logger)),
    );
    return true;
  }

  /** Sends a page that says why; breaks off a response that has begun. */
  fail(
    { headers: { host } }: IncomingMessage,
    response: ServerResponse,
    { error, grant }: { error: unknown; grant?: PreviewGrant },
  ): void {
    const known = sentError(error, this.#logger);
    if (response.headersSent) return void response.destroy();
    const ancestors = grant ? framedBy(grant) : this.addresses.dashboards(host);
    const headers = ownHeaders(ancestors, [pagePolicy]);
    send(response, problemOf(known).status, sentencePage(known.message), headers);
  }

  async #serve(
    request: IncomingMessage,
    response: ServerResponse,
    target: PreviewTarget,
  ): Promise<void> {
    const url = request.url ?? '';
    if (url.split('?', 1)[0] === openPath) return this.#open(request, response, target);
    const grant = await this.#check(request, target);
    try {
      const connection = await this.streams.open(grant);
      if (response.destroyed) return void connection.stream.destroy();
      const onFailed = (error: AppError): void => this.fail(request, response, { error, grant });
      forwardRequest(request, response, { ...connection, onFailed });
    } catch (error) {
      this.fail(request, response, { error, grant });
    }
  }

  async #upgrade(
    request: IncomingMessage,
    socket: Duplex,
    { target, head }: { target: PreviewTarget; head: Buffer },
  ): Promise<void> {
    // Browsers state the origin of a WebSocket, and nothing else protects it.
    if (request.headers.origin === undefined) throw foreign();
    const grant = await this.#check(request, target);
    const connection = await this.streams.open(grant);
    if (socket.destroyed) return void connection.stream.destroy();
    const onFailed = (): void =>
      refuseOnSocket(
        socket,
        new AppError('unavailable', 'The server in the sandbox did not accept the WebSocket.'),
      );
    forwardUpgrade(request, socket, { ...connection, head, onFailed });
  }

  /** Exchanges the ticket in the address for a cookie of this origin, and continues without the ticket. */
  async #open(
    request: IncomingMessage,
    response: ServerResponse,
    target: PreviewTarget,
  ): Promise<void> {
    const { 'sec-fetch-mode': mode, 'sec-fetch-dest': destination } = request.headers;
    if (
      mode !== undefined &&
      (mode !== 'navigate' || !/^(document|iframe)$/.test(String(destination)))
    )
      throw foreign();
    const ticket = new URLSearchParams(request.url?.split('?')[1]).get('ticket') ?? '';
    const redeemed =
      request.method === 'GET' ? await this.grants.redeem(ticket, target) : undefined;
    if (!redeemed) throw new AppError('unauthorized', usedTicket);
    const { grant, secret, path } = redeemed;
    this.#assertMay(grant);
    send(response, 200, stepPage(previewPath.parse(path)), {
      ...ownHeaders(framedBy(grant), [pagePolicy]),
      'referrer-policy': 'no-referrer',
      'set-cookie': grantCookie(secret, grant.origin, grantMs),
    });
  }

  /** Throws unless the request comes from the preview’s own page, in a browser with access. */
  async #check({ headers, url }: IncomingMessage, target: PreviewTarget): Promise<PreviewGrant> {
    const { origin, host, 'sec-fetch-site': site } = headers;
    if (!url?.startsWith('/'))
      throw new AppError('invalid_input', 'A preview accepts only paths, such as `/`.');
    if (site !== undefined && site !== 'same-origin' && site !== 'none') throw foreign();
    if (origin !== undefined && hostOf(origin) !== host?.toLowerCase()) throw foreign();
    if (headers['service-worker'] !== undefined) throw new AppError('forbidden', noWorker);
    const grant = await this.grants.find(grantSecrets(headers.cookie), target);
    if (!grant) throw new AppError('unauthorized', noCookie);
    this.#assertMay(grant);
    return grant;
  }

  /** Checks the caller’s current rights. */
  #assertMay({ caller, target: { session } }: PreviewGrant): void {
    assertMay(this.identity.callerById(caller.id), 'operate', session);
  }
}

const foreign = (): AppError =>
  new AppError('forbidden', 'Other pages may not use this preview. Open it from the dashboard.');

const usedTicket =
  'This address has already been used or has expired. Open the preview from the dashboard again.';
const noCookie =
  'This browser has no access to the preview, or its access has ended. Press Reload above it in the dashboard; if that does not help, open it in a new tab.';
const noWorker = 'Previews do not support service workers, which would outlive them.';

const hostOf = (origin: string): string => (URL.canParse(origin) ? new URL(origin).host : '');

function send(
  response: ServerResponse,
  status: number,
  page: string,
  headers: OutgoingHttpHeaders,
): void {
  response.writeHead(status, {
    ...headers,
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(page);
}
