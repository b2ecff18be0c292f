import type { z } from 'zod';
import { AppError, errorCodes, errorFrom, type ErrorCode } from '@belay/protocol';
import type { BelayClient } from './client.js';

export interface Address {
  /** Where the server is, such as http://127.0.0.1:4600. */
  url: string;
  /** The server's token; left out in a browser, where a cookie speaks. */
  token?: string;
}

/** A typed client of the server's REST side. Works in browsers and in Node. */
export function createClient(address: Address): BelayClient {
  const { json, bytes, send } = requests(address);
  const at = (id: string, rest = '') => `/api/sessions/${encodeURIComponent(id)}${rest}`;
  const run = (id: string, rest = '') => `/api/evaluations/${encodeURIComponent(id)}${rest}`;
  const post = (path: string, body: unknown = {}) => send('POST', path, body);
  return {
    sessions: {
      list: () => json('GET', '/api/sessions'),
      get: (id) => json('GET', at(id)),
      create: (session) => json('POST', '/api/sessions', session),
      events: (id, page = {}) => json('GET', at(id, `/events${query(page)}`)),
      message: (id, message) => post(at(id, '/messages'), message),
      pause: (id) => post(at(id, '/pause')),
      resume: (id) => post(at(id, '/resume')),
      stop: (id) => post(at(id, '/stop')),
      restart: (id) => post(at(id, '/restart')),
      wake: (id) => post(at(id, '/wake')),
      change: (id, change) => json('PATCH', at(id), change),
      remove: (id) => send('DELETE', at(id)),
      fork: (id, fork) => json('POST', at(id, '/fork'), fork),
      rewind: (id, rewind) => json('POST', at(id, '/rewind'), rewind),
      call: (id, operation, input) =>
        json('POST', at(id, `/operations/${encodeURIComponent(operation)}`), input),
      answer: (id, call, answer) => post(at(id, `/approvals/${encodeURIComponent(call)}`), answer),
      terminal: (id, terminal, range = {}) =>
        bytes(at(id, `/terminals/${encodeURIComponent(terminal)}${query(range)}`)),
      patch: (id) => bytes(at(id, '/patch')),
      export: (id, format) => bytes(at(id, `/export${query({ format })}`)),
      blob: (id, blob) => bytes(at(id, `/blobs/${blob}`)),
      search: (text) => json('GET', `/api/search${query({ q: text })}`),
    },
    evaluations: {
      list: () => json('GET', '/api/evaluations'),
      get: (id) => json('GET', run(id)),
      trials: (id, page = {}) => json('GET', run(id, `/trials${query(page)}`)),
      blob: (id, blob) => bytes(run(id, `/blobs/${blob}`)),
      open: (id, facts) => json('PUT', run(id), facts),
      report: (id, changes) => post(run(id, '/reports'), changes),
      remove: (id) => send('DELETE', run(id)),
    },
    uploadWorkspace: (tar) => json('POST', '/api/workspaces', tar, 'application/x-tar'),
    uploadBlob: (content, type) => json('POST', '/api/blobs', content, type),
    me: () => json('GET', '/api/me'),
    models: () => json('GET', '/api/models'),
    tryModel: (model) => json('POST', '/api/models/trial', { model }),
    providers: () => json('GET', '/api/providers'),
    setProvider: (name, change) => json('PUT', `/api/providers/${name}`, change),
    settings: {
      read: () => json('GET', '/api/settings'),
      change: (change) => json('PATCH', '/api/settings', change),
    },
    mcp: {
      list: () => json('GET', '/api/mcp'),
      create: (server) => json('POST', '/api/mcp', server),
      change: (name, change) => json('PATCH', `/api/mcp/${name}`, change),
      test: (name) => json('POST', `/api/mcp/${name}/test`),
      remove: (name) => send('DELETE', `/api/mcp/${name}`),
    },
    checks: () => json('GET', '/api/checks'),
    examples: () => json('GET', '/api/examples'),
    rules: {
      list: () => json('GET', '/api/rules'),
      create: (rule) => json('POST', '/api/rules', rule),
      preview: (rule) => json('POST', '/api/rules/preview', rule),
      remove: (id) => send('DELETE', `/api/rules/${encodeURIComponent(id)}`),
    },
  };
}

function query(values: Record<string, string | number | undefined>): string {
  const entries = Object.entries(values).filter((entry) => entry[1] !== undefined);
  const text = new URLSearchParams(entries.map(([key, value]) => [key, String(value)])).toString();
  return text && `?${text}`;
}

function requests({ url, token }: Address) {
  async function request(
    method: string,
    path: string,
    content?: unknown,
    type = 'application/json',
  ): Promise<Response> {
    const body = type === 'application/json' ? content && JSON.stringify(content) : content;
    const init = {
      method,
      credentials: 'same-origin',
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(content !== undefined && { 'content-type': type }),
      },
      ...(content !== undefined && { body: body as BodyInit }),
      ...(content instanceof ReadableStream && { duplex: 'half' }),
    } as RequestInit;
    const response = await fetch(url + path, init).catch((error: unknown) => {
      throw new AppError(
        'unavailable',
        `No Belay server answers at ${url} (${reason(error)}); npm start starts one.`,
      );
    });
    if (!response.ok) throw await problem(response);
    return response;
  }
  return {
    json: async <T>(...call: Parameters<typeof request>): Promise<T> =>
      (await (await request(...call)).json()) as T,
    bytes: async (path: string): Promise<Uint8Array> =>
      new Uint8Array(await (await request('GET', path)).arrayBuffer()),
    send: async (...call: Parameters<typeof request>): Promise<void> => {
      await (await request(...call)).arrayBuffer();
    },
  };
}

const reason = (error: unknown): string => {
  const { cause } = error as { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? (error instanceof Error ? error.message : String(error));
};

/** A problem document (RFC 9457) back into the error it was made of. */
async function problem(response: Response): Promise<AppError> {
  const text = await response.text();
  try {
    const body = JSON.parse(text) as Problem;
    if (body.code && body.code in errorCodes)
      return errorFrom({ code: body.code, message: body.detail ?? '', details: body.details });
  } catch {
    // Not a problem document: something between here and the server answered.
  }
  const message = `The server answered ${response.status} ${response.statusText}: ${text.slice(0, 200)}`;
  return new AppError(response.status === 401 ? 'unauthorized' : 'internal', message);
}

interface Problem {
  code?: ErrorCode;
  detail?: string;
  details?: z.core.util.JSONType;
}
