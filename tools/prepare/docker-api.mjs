import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Instruction } from './steps.mjs';

/**
 * Where an engine may listen, most likely first: DOCKER_HOST, the CLI’s context, the usual sockets.
 */
export function candidateHosts(env = process.env, home = homedir()) {
  if (env.DOCKER_HOST) return [env.DOCKER_HOST];
  const sockets = [
    '/var/run/docker.sock',
    env.XDG_RUNTIME_DIR && join(env.XDG_RUNTIME_DIR, 'docker.sock'),
    join(home, '.docker/run/docker.sock'),
    join(home, '.colima/default/docker.sock'),
  ];
  const context = contextHost(env, home);
  return [context, ...sockets.filter(Boolean).map((path) => `unix://${path}`)].filter(Boolean);
}

/** The endpoint of the context chosen with `docker context use`, if any. */
function contextHost(env, home) {
  try {
    const folder = env.DOCKER_CONFIG ?? join(home, '.docker');
    const name =
      env.DOCKER_CONTEXT ??
      JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')).currentContext;
    if (!name || name === 'default') return undefined;
    const id = createHash('sha256').update(name).digest('hex');
    const meta = JSON.parse(readFileSync(join(folder, 'contexts/meta', id, 'meta.json'), 'utf8'));
    return meta.Endpoints.docker.Host;
  } catch {
    return undefined;
  }
}

/** The few calls of the Engine API that preparation needs, using only Node’s http. */
export class Docker {
  constructor(host) {
    this.host = host;
    this.socketPath = socketOf(host);
  }

  async ping(milliseconds = 2000) {
    const { headers } = await this.call('GET', '/_ping', { timeout: milliseconds });
    return headers['api-version'];
  }

  async exists(path) {
    const { status } = await this.call('GET', path, { accept: [404] });
    return status === 200;
  }

  async get(path) {
    const { body } = await this.call('GET', path);
    return JSON.parse(body);
  }

  async post(path, value) {
    const body = value === undefined ? undefined : JSON.stringify(value);
    const answer = await this.call('POST', path, { body, type: 'application/json' });
    return answer.body ? JSON.parse(answer.body) : undefined;
  }

  async remove(path) {
    await this.call('DELETE', path, { accept: [404, 409] });
  }

  /**
   * Calls with a response of JSON lines: build, pull, import. Throws the engine’s error message.
   */
  async stream(path, { body, type, timeout, onLine = () => {} } = {}) {
    let failure;
    let rest = '';
    const read = (line) => {
      if (!line.trim()) return;
      const message = JSON.parse(line);
      if (message.error) failure = message.error;
      onLine(message);
    };
    await this.call('POST', path, {
      body,
      type,
      timeout,
      onData(chunk) {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop();
        lines.forEach(read);
      },
    });
    read(rest);
    if (failure) throw new Error(failure.trim());
  }

  call(method, path, { body, type, timeout, accept = [], onData } = {}) {
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        {
          socketPath: this.socketPath,
          method,
          path,
          headers: type ? { 'content-type': type } : {},
        },
        (response) => {
          const streaming = onData && response.statusCode < 300;
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (chunk) => (streaming ? onData(chunk) : (text += chunk)));
          response.on('error', reject);
          response.on('end', () => {
            const { statusCode: status, headers } = response;
            if (status < 300 || status === 304 || accept.includes(status))
              resolve({ status, headers, body: text });
            else reject(new Error(messageOf(text) ?? `Docker answered ${status} to ${path}`));
          });
        },
      );
      if (timeout)
        request.setTimeout(timeout, () => request.destroy(new Error('no answer in time')));
      request.on('error', reject);
      if (body && typeof body.pipe === 'function') body.on('error', reject).pipe(request);
      else request.end(body);
    });
  }
}

function messageOf(text) {
  try {
    return JSON.parse(text).message;
  } catch {
    return text || undefined;
  }
}

/**
 * Sandboxes reach the server through a socket in a folder of this machine, which a remote engine
 * cannot mount.
 */
function socketOf(host) {
  if (host.startsWith('unix://')) return host.slice('unix://'.length);
  throw new Instruction(
    `Docker is set to ${host}, and Belay needs an engine on this machine: set DOCKER_HOST to unix:///var/run/docker.sock, or to the socket that yours has.`,
  );
}
