import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { endToEndHeaders } from '@belay/protocol';
import type { PreviewGrant } from './preview-grants.js';
import type { PreviewConnection } from './preview-streams.js';
import { cookiesForBrowser, cookiesForProgram, isTrusted } from './preview-cookies.js';

/** Headers meant for this server or about the connection to it; a program on `localhost` does not get them. */
const ofTheWay = [
  'cookie',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'origin',
  'referer',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-forwarded-server',
  'x-real-ip',
];

/**
 * Headers that a program may not set: they would delete or restrict data of others, open the page to other sites, keep
 * the dashboard from showing it, or instruct a proxy in front of this server.
 */
const notForBrowsers =
  /^(access-control-.*|alt-svc|clear-site-data|content-security-policy|cross-origin-resource-policy|location|nel|public-key-pins.*|refresh|report(-to|ing-endpoints)|service-worker-allowed|set-cookie2?|strict-transport-security|x-accel-.*|x-dns-prefetch-control|x-frame-options|x-lighttpd-.*|x-sendfile)$/;

const loopback = /^(localhost|127(\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\])$/;

/** A request’s headers in the form that a program on `localhost` expects. */
export function requestHeaders(
  { headers, headersDistinct }: IncomingMessage,
  { target, origin }: PreviewGrant,
): OutgoingHttpHeaders {
  const local = `http://localhost:${target.port}`;
  const cookie = cookiesForProgram(headers.cookie ?? '');
  const { referer } = headers;
  return {
    ...endToEndHeaders(headersDistinct, ofTheWay),
    host: `localhost:${target.port}`,
    ...(cookie !== undefined && { cookie }),
    ...(headers.origin !== undefined && { origin: local }),
    ...(referer?.startsWith(`${origin}/`) && { referer: local + referer.slice(origin.length) }),
  };
}

/** A program’s headers, as far as the preview’s origin may have them. */
export function responseHeaders(
  { headersDistinct }: IncomingMessage,
  { grant, policy }: PreviewConnection,
): OutgoingHttpHeaders {
  const policies = [policy ?? [], headersDistinct['content-security-policy'] ?? []].flat();
  const kept = Object.fromEntries(
    Object.entries(endToEndHeaders(headersDistinct))
      .filter(([name]) => !notForBrowsers.test(name))
      // A page’s policy does not apply to connections that a browser opens in advance.
      .filter(([name]) => policy === undefined || name !== 'link'),
  );
  const cookies = cookiesForBrowser(headersDistinct['set-cookie'] ?? [], isTrusted(grant.origin));
  const location = headersDistinct['location']?.[0];
  return {
    ...kept,
    ...(location !== undefined && { location: onPreview(location, grant) }),
    ...(cookies.length > 0 && { 'set-cookie': cookies }),
    ...ownHeaders(framedBy(grant), policies),
  };
}

/**
 * Headers of every response on a preview’s origin. `policies` are those of the program, without their rule for
 * framing.
 */
export const ownHeaders = (
  ancestors: string,
  policies: readonly string[] = [],
): OutgoingHttpHeaders => ({
  'content-security-policy': [
    ...policies.map(withoutAncestors).filter(Boolean),
    `frame-ancestors ${ancestors}`,
  ].join(', '),
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-dns-prefetch-control': 'off',
});

/** The origins that may frame the preview: the dashboard that opened it, and its own. */
export const framedBy = ({ dashboard }: PreviewGrant): string =>
  dashboard === undefined ? "'self'" : `'self' ${dashboard}`;

const withoutAncestors = (policies: string): string =>
  policies
    .split(',')
    .map((policy) =>
      policy
        .split(';')
        .filter((directive) => !/^\s*frame-ancestors\b/i.test(directive))
        .join(';'),
    )
    .filter((policy) => policy.trim())
    .join(',');

/** A redirect to the program itself leads to the preview; one to another port leads to that port’s preview. */
function onPreview(location: string, { target: { port }, originOf }: PreviewGrant): string {
  if (!URL.canParse(location, `http://localhost:${port}`)) return '/';
  const url = new URL(location, `http://localhost:${port}`);
  const path = url.pathname + url.search + url.hash;
  if (!loopback.test(url.hostname)) return url.href;
  const other = Number(url.port || 80);
  if (other === port) return path.replace(/^[/\\]+/, '/');
  if (other === 0) return '/';
  return originOf(other) + path;
}
