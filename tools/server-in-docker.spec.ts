import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const folder = join(__dirname, '../docker/server');
const dockerfile = readFileSync(join(folder, 'Dockerfile'), 'utf8');
const { services } = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8')) as {
  services: { server: { volumes: string[]; ports: string[] } };
};
const setting = (name: string): string => new RegExp(`${name}=(\\S+)`).exec(dockerfile)?.[1] ?? '';
const { volumes, ports } = services.server;

describe('the server in Docker', () => {
  it('has its sockets at the same path as the engine, which mounts them', () => {
    const sockets = join(setting('XDG_RUNTIME_DIR'), 'belay');
    expect(volumes).toContain(`${sockets}:${sockets}`);
    const engine = setting('DOCKER_HOST').replace('unix://', '');
    expect(volumes).toContain(`${engine}:${engine}`);
  });

  it('has the launcher of the command on its path', () => {
    const [, launcher = ''] =
      /ln -s \S+\/belay\/(\S+) \/usr\/local\/bin\/belay$/m.exec(dockerfile) ?? [];
    expect(launcher).toBe('apps/cli/bin/belay');
    expect(existsSync(join(folder, '../..', launcher))).toBe(true);
  });

  it('keeps its data in a volume, and is reachable from this machine only', () => {
    expect(volumes).toContain(`data:${setting('BELAY_DATA')}`);
    expect(ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
  });
});
